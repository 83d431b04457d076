import { describe, expect, it } from 'vitest';
import { Forbidden } from '../../src/errors.js';
import type { FeedSettings } from '../../src/live/feeds/sources.js';
import type { TriggerChangeFilter } from '../../src/live/feeds/trigger/filter.js';
import { Follower, feedsOver, UpstreamModel } from './upstream-model.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

function begin(settings: Partial<FeedSettings> = {}) {
  const upstream = new UpstreamModel();
  const feeds = feedsOver(upstream, { settings });
  const follow = (filter: TriggerChangeFilter | null = null, after: string | null = null) =>
    new Follower(feeds.triggerChanges({ filter, after }));
  const status = () => feeds.status().find(({ name }) => name === 'triggerChanges');
  return { upstream, clock: upstream.clock, feeds, follow, status };
}

describe('the trigger feed', () => {
  it('delivers a trigger that opens, changes and closes, each once', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(second);
    const trigger = upstream.add({ id: 7 });
    await clock.advance(5 * second);
    trigger.pga = 4;
    await clock.advance(5 * second);
    trigger.status = 'closed';
    trigger.pga = 5;
    await clock.advance(10 * minute);
    expect(follower.lines).toEqual(['OPENED 7', 'UPDATED 7', 'CLOSED 7']);
    expect(follower.got.at(-1)?.pga).toBe(5);
  });

  it('says nothing of what was there before, and follows what was open then', async () => {
    const { upstream, clock, follow } = begin();
    upstream.add({ id: 1, startMs: clock.wallMs() - minute, status: 'closed' });
    const open = upstream.add({ id: 2, startMs: clock.wallMs() - minute });
    const follower = follow();
    await clock.advance(minute);
    expect(follower.lines).toEqual([]);
    open.status = 'closed';
    await clock.advance(5 * second);
    expect(follower.lines).toEqual(['CLOSED 2']);
  });

  it('says nothing after a trigger has closed, whatever upstream changes of it', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(second);
    const trigger = upstream.add({ id: 7, status: 'closed' });
    await clock.advance(5 * second);
    trigger.pga = 9;
    trigger.station = null;
    await clock.advance(minute);
    trigger.status = 'open';
    await clock.advance(10 * minute);
    expect(follower.lines).toEqual(['CLOSED 7']);
  });

  it('finds a trigger that becomes visible late, within two intervals', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(second);
    upstream.add({ id: 502, startMs: clock.wallMs() - 10 * second, status: 'closed' });
    await clock.advance(5 * second);
    upstream.add({ id: 501, startMs: clock.wallMs() - 599 * second, status: 'closed' });
    await clock.advance(10 * second);
    expect(follower.lines).toEqual(['CLOSED 502', 'CLOSED 501']);
  });

  it('finds a trigger that is hours late by a sweep', async () => {
    const { upstream, clock, follow } = begin();
    upstream.add({ id: 1, startMs: clock.wallMs() - minute, status: 'closed' });
    const follower = follow();
    await clock.advance(second);
    upstream.add({ id: 2, startMs: clock.wallMs() - 5 * hour, status: 'closed' });
    await clock.advance(6 * minute);
    expect(follower.lines).toEqual(['CLOSED 2']);
  });

  it('delivers 650 triggers of one interval, each once, though a page has 500', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(second);
    for (let id = 1; id <= 650; id++) upstream.add({ id, deviceId: `D${id % 40}`, status: 'closed' });
    await clock.advance(10 * second);
    expect(follower.got).toHaveLength(650);
    expect(new Set(follower.lines).size).toBe(650);
  });

  it('stretches the window to the oldest trigger that is open', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(second);
    const long = upstream.add({ id: 1 });
    await clock.advance(3 * hour);
    upstream.add({ id: 2, status: 'closed' });
    await clock.advance(minute);
    long.status = 'closed';
    await clock.advance(5 * second);
    expect(follower.lines).toEqual(['OPENED 1', 'CLOSED 2', 'CLOSED 1']);
  });

  it('reads what has been open for hours apart when the window would have many pages', async () => {
    const { upstream, clock, follow } = begin({ triggerPollIntervalMs: 2 * minute, triggerLookbackS: 1_800 });
    const follower = follow({ deviceIds: ['LONG'] });
    await clock.advance(second);
    const long = upstream.add({ id: 1, deviceId: 'LONG', startMs: clock.wallMs() - 20 * minute });
    await clock.advance(2 * minute);
    for (let id = 2; id < 1_600; id++) upstream.add({ id, startMs: clock.wallMs() + id, status: 'closed' });
    await clock.advance(2 * hour);
    upstream.add({ id: 5_000, status: 'closed' });
    await clock.advance(4 * minute);
    upstream.queries.length = 0;
    await clock.advance(2 * minute);
    // Besides the sweep, which has an end.
    const polls = upstream.queries.filter(({ to, deviceId }) => to === undefined || deviceId !== undefined);
    expect(polls.map(({ deviceId }) => deviceId)).toEqual([undefined, 'LONG']);
    long.status = 'closed';
    await clock.advance(2 * minute);
    expect(follower.lines).toEqual(['OPENED 1', 'CLOSED 1']);
  });

  it('follows a trigger that stays open for days by its sensor and start time', async () => {
    const { upstream, clock, follow } = begin({ triggerPollIntervalMs: 10 * minute });
    const follower = follow();
    await clock.advance(second);
    const long = upstream.add({ id: 1, deviceId: 'LONG' });
    // Something has to happen for upstream's time to go on.
    for (let day = 1; day <= 3; day++) {
      await clock.advance(24 * hour);
      upstream.add({ id: 10 + day, status: 'closed' });
    }
    await clock.advance(20 * minute);
    const froms = upstream.queries.slice(-2).map(({ from }) => Date.parse(from ?? ''));
    expect(Math.min(...froms)).toBeGreaterThanOrEqual(long.startMs);
    expect(upstream.queries.at(-1)).toMatchObject({ deviceId: 'LONG' });
    long.status = 'closed';
    await clock.advance(20 * minute);
    expect(follower.lines).toEqual(['OPENED 1', 'CLOSED 11', 'CLOSED 12', 'CLOSED 13', 'CLOSED 1']);
  });

  it('is not held up by a trigger that disappears, and takes it up again when it is back', async () => {
    const { upstream, clock, follow, status } = begin();
    const follower = follow();
    await clock.advance(second);
    const trigger = upstream.add({ id: 1 });
    await clock.advance(5 * second);
    upstream.triggers.length = 0;
    await clock.advance(minute);
    expect(status()?.intervalMs).toBe(5 * second);
    upstream.triggers.push(trigger);
    trigger.status = 'closed';
    await clock.advance(10 * second);
    expect(follower.lines).toEqual(['OPENED 1', 'CLOSED 1']);
  });

  it.each(['but its id', 'wholly'] as const)(
    'delivers what became of an open trigger as soon as it can be read again: unreadable %s',
    async (unreadable) => {
      const { upstream, clock, follow } = begin();
      const follower = follow();
      await clock.advance(second);
      const trigger = upstream.add({ id: 1 });
      await clock.advance(5 * second);
      trigger.unreadable = unreadable;
      for (let id = 2; id <= 32; id++) {
        upstream.add({ id, status: 'closed' });
        await clock.advance(minute);
      }
      const closed = follower.lines.slice(1);
      trigger.unreadable = undefined;
      trigger.pga = 7;
      await clock.advance(5 * second);
      trigger.unreadable = unreadable;
      await clock.advance(minute);
      trigger.unreadable = undefined;
      trigger.status = 'closed';
      await clock.advance(5 * second);
      expect(follower.lines).toEqual(['OPENED 1', ...closed, 'UPDATED 1', 'CLOSED 1']);
      expect(closed).toHaveLength(31);
    },
  );

  it('goes on beside an open trigger that is read apart and cannot be read, and takes it up again', async () => {
    const { upstream, clock, follow, status } = begin({
      triggerPollIntervalMs: 2 * minute,
      triggerLookbackS: 1_800,
    });
    const follower = follow({ deviceIds: ['LONG'] });
    await clock.advance(second);
    const long = upstream.add({ id: 1, deviceId: 'LONG', startMs: clock.wallMs() - 20 * minute });
    await clock.advance(2 * minute);
    for (let id = 2; id < 1_600; id++) upstream.add({ id, startMs: clock.wallMs() + id, status: 'closed' });
    await clock.advance(2 * hour);
    upstream.add({ id: 5_000, status: 'closed' });
    await clock.advance(4 * minute);
    long.unreadable = 'but its id';
    await clock.advance(18 * minute);
    upstream.queries.length = 0;
    await clock.advance(2 * minute);
    expect(upstream.queries.map(({ deviceId }) => deviceId)).toContain('LONG');
    expect(status()?.lagMs).toBeLessThanOrEqual(2 * minute);
    Object.assign(long, { unreadable: undefined, status: 'closed' });
    await clock.advance(2 * minute);
    expect(follower.lines).toEqual(['OPENED 1', 'CLOSED 1']);
  });

  it('sweeps past a trigger that stays open for days and cannot be read', async () => {
    const { upstream, clock, follow } = begin({ triggerPollIntervalMs: 10 * minute });
    const follower = follow();
    await clock.advance(second);
    const [unreadable, other] = [1, 2].map((id) => upstream.add({ id, deviceId: `LONG${id}` }));
    for (let day = 1; day <= 3; day++) {
      await clock.advance(24 * hour);
      upstream.add({ id: 10 + day, status: 'closed' });
    }
    if (unreadable) unreadable.unreadable = 'but its id';
    await clock.advance(hour);
    if (other) other.status = 'closed';
    await clock.advance(20 * minute);
    expect(follower.lines.at(-1)).toBe('CLOSED 2');
    if (unreadable) Object.assign(unreadable, { status: 'closed', unreadable: undefined });
    await clock.advance(20 * minute);
    expect(follower.lines.at(-1)).toBe('CLOSED 1');
  });

  it.each([-2 * hour, -7 * minute, 7 * minute, 2 * hour])(
    'does not mind a clock upstream that is %i ms off',
    async (offMs) => {
      const { upstream, clock, follow } = begin();
      const upstreamNow = () => clock.wallMs() + offMs;
      upstream.add({ id: 1, startMs: upstreamNow() - minute, status: 'closed' });
      const follower = follow();
      await clock.advance(second);
      for (let id = 2; id <= 5; id++) {
        upstream.add({ id, startMs: upstreamNow() - 20 * second, status: 'closed' });
        await clock.advance(3 * minute);
      }
      // As late as the look-back window allows, on upstream's clock.
      upstream.add({ id: 6, startMs: upstreamNow() - 9 * minute, status: 'closed' });
      await clock.advance(15 * second);
      expect(follower.lines).toEqual([2, 3, 4, 5, 6].map((id) => `CLOSED ${id}`));
    },
  );

  it('looks far enough back though one sensor is years ahead', async () => {
    const { upstream, clock, follow } = begin();
    upstream.add({ id: 1, startMs: clock.wallMs() + 3 * 365 * 24 * hour, status: 'closed' });
    const follower = follow();
    await clock.advance(second);
    upstream.add({ id: 2, startMs: clock.wallMs() - 9 * minute, status: 'closed' });
    await clock.advance(10 * second);
    expect(follower.lines).toEqual(['CLOSED 2']);
  });

  it('passes a status it has never seen, and does not wait for its end', async () => {
    const { upstream, clock, follow, status } = begin();
    const follower = follow();
    await clock.advance(second);
    const trigger = upstream.add({ id: 1, status: 'calibrating' });
    await clock.advance(5 * second);
    expect(status()?.intervalMs).toBe(5 * second);
    trigger.status = 'closed';
    await clock.advance(5 * second);
    expect(follower.lines).toEqual(['OPENED 1', 'CLOSED 1']);
  });

  it('polls every 3 seconds while a young trigger is open', async () => {
    const { upstream, clock, follow, status } = begin();
    follow();
    await clock.advance(second);
    expect(status()?.intervalMs).toBe(5 * second);
    upstream.add({ id: 1 });
    await clock.advance(6 * second);
    expect(status()?.intervalMs).toBe(3 * second);
    upstream.reads = 0;
    await clock.advance(30 * second);
    expect(upstream.reads).toBe(10);
    await clock.advance(10 * minute);
    expect(status()?.intervalMs).toBe(5 * second);
  });

  it('polls once however many listen, and stops after the last', async () => {
    const { upstream, clock, follow, status } = begin();
    await clock.advance(minute);
    expect(upstream.reads).toBe(0);
    const followers = Array.from({ length: 50 }, () => follow());
    await clock.advance(30 * second);
    expect(upstream.reads).toBe(7);
    expect(status()).toMatchObject({ isActive: true, subscriberCount: 50 });
    for (const follower of followers) follower.leave();
    await clock.advance(10 * second);
    upstream.reads = 0;
    await clock.advance(hour);
    expect(upstream.reads).toBe(0);
    expect(status()).toMatchObject({ isActive: false, subscriberCount: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on after any number of failures, and delivers what happened meanwhile', async () => {
    const { upstream, clock, follow, status } = begin();
    const follower = follow();
    await clock.advance(second);
    upstream.failing = 1_000_000;
    await clock.advance(minute);
    expect(status()?.isFailing).toBe(true);
    upstream.add({ id: 1, status: 'closed' });
    await clock.advance(3 * hour);
    expect(upstream.reads).toBeGreaterThan(100);
    upstream.failing = 0;
    await clock.advance(minute);
    expect(follower.lines).toEqual(['CLOSED 1']);
    expect(status()?.isFailing).toBe(false);
  });

  it('has one poll in flight when upstream takes three intervals, and delivers all in order', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(second);
    upstream.latencyMs = 15 * second;
    for (let id = 1; id <= 8; id++) {
      const trigger = upstream.add({ id });
      await clock.advance(10 * second);
      trigger.status = 'closed';
      await clock.advance(5 * second);
    }
    await clock.advance(2 * minute);
    expect(upstream.mostInFlight).toBe(1);
    const closed = follower.lines.filter((line) => line.startsWith('CLOSED'));
    expect(closed).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((id) => `CLOSED ${id}`));
  });

  it('ends a subscription that upstream will never allow, with its error', async () => {
    const { upstream, clock, follow } = begin();
    upstream.refusal = new Forbidden('not in this plan');
    const follower = follow();
    await clock.advance(second);
    expect(follower.error).toBeInstanceOf(Forbidden);
  });
});

describe('a filter of the trigger feed', () => {
  it('names a sensor by Device ID in any case, or by station code, with the same result', async () => {
    const { upstream, clock, follow } = begin();
    const byDevice = follow({ deviceIds: ['00:1a:2b:3c:4d:5e'] });
    const byStation = follow({ stationCodes: ['TEST'] });
    await clock.advance(second);
    upstream.add({ id: 1 });
    for (let id = 2; id < 100; id++) upstream.add({ id, deviceId: 'FFFFFFFFFFFF', station: 'OTHER' });
    await clock.advance(10 * second);
    expect(byDevice.lines).toEqual(['OPENED 1']);
    expect(byStation.lines).toEqual(['OPENED 1']);
  });

  it('goes on with a trigger whose sensor leaves its station', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow({ stationCodes: ['TEST'] });
    await clock.advance(second);
    const trigger = upstream.add({ id: 1 });
    await clock.advance(5 * second);
    trigger.station = null;
    await clock.advance(5 * second);
    trigger.status = 'closed';
    await clock.advance(5 * second);
    expect(follower.lines).toEqual(['OPENED 1', 'UPDATED 1', 'CLOSED 1']);
  });

  it('lets a trigger in from when it passes the acceleration, to its end', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow({ minPgaMg: 5 });
    await clock.advance(second);
    const growing = upstream.add({ id: 1, pga: 1 });
    const small = upstream.add({ id: 2, pga: 4.9 });
    const sudden = upstream.add({ id: 3, pga: null });
    await clock.advance(5 * second);
    growing.pga = 6;
    await clock.advance(5 * second);
    // The last word may be less than the first.
    Object.assign(growing, { pga: 4, status: 'closed' });
    Object.assign(small, { status: 'closed' });
    Object.assign(sudden, { pga: 5, status: 'closed' });
    await clock.advance(5 * second);
    expect(follower.lines).toEqual(['UPDATED 1', 'CLOSED 1', 'CLOSED 3']);
  });

  it('gives the kinds that were asked for', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow({ kinds: ['CLOSED'] });
    await clock.advance(second);
    const trigger = upstream.add({ id: 1 });
    await clock.advance(5 * second);
    trigger.status = 'closed';
    await clock.advance(5 * second);
    expect(follower.lines).toEqual(['CLOSED 1']);
  });
});

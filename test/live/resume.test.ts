import { describe, expect, it } from 'vitest';
import { CursorExpired, CursorInvalid } from '../../src/errors.js';
import { Follower, type Run, runOver, UpstreamModel } from './upstream-model.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

function begin() {
  const upstream = new UpstreamModel();
  const { clock } = upstream;
  const run = runOver(upstream);
  const follow = (after: string | null = null, of: Run = run) =>
    new Follower(of.feeds.triggerChanges({ filter: null, after }));
  /** The gateway stops, and another starts. */
  const restart = () => {
    run.feeds.close();
    return runOver(upstream);
  };
  return { upstream, clock, run, follow, restart };
}

describe('a subscriber who resumes', () => {
  it('receives from the log what it missed, change by change, and then goes on live', async () => {
    const { upstream, clock, follow } = begin();
    follow();
    const first = follow();
    await clock.advance(second);
    const trigger = upstream.add({ id: 20 });
    await clock.advance(5 * second);
    first.leave();
    for (let pga = 2; pga < 5; pga++) {
      trigger.pga = pga;
      await clock.advance(5 * second);
    }
    const second_ = follow(first.cursor);
    trigger.status = 'closed';
    await clock.advance(5 * second);
    expect(second_.lines).toEqual(['UPDATED 20', 'UPDATED 20', 'UPDATED 20', 'CLOSED 20']);
    expect(second_.got.map(({ isReplayed }) => isReplayed)).toEqual([true, true, true, false]);
  });

  it('receives from upstream what happened while nobody listened, each trigger once', async () => {
    const { upstream, clock, follow } = begin();
    const first = follow();
    await clock.advance(second);
    upstream.add({ id: 20, status: 'closed' });
    const open = upstream.add({ id: 21 });
    await clock.advance(5 * second);
    first.leave();
    await clock.advance(minute);
    for (const id of [22, 23, 24]) upstream.add({ id, status: 'closed' });
    upstream.add({ id: 25 });
    Object.assign(open, { status: 'closed', pga: 9 });
    const again = follow(first.cursor);
    await clock.advance(minute);
    expect(again.lines).toEqual(['CLOSED 21', 'CLOSED 22', 'CLOSED 23', 'CLOSED 24', 'OPENED 25']);
    expect(again.got.every(({ isReplayed }) => isReplayed)).toBe(true);
    upstream.add({ id: 26, status: 'closed' });
    await clock.advance(5 * second);
    expect(again.got.at(-1)).toMatchObject({ id: '26', isReplayed: false });
  });

  it('receives the same after a restart, and nothing that was there before', async () => {
    const { upstream, clock, follow, restart } = begin();
    // More than the first read gives.
    for (let id = 1; id <= 700; id++) {
      upstream.add({ id, startMs: clock.wallMs() - id * minute, status: 'closed' });
    }
    const first = follow();
    await clock.advance(second);
    upstream.add({ id: 1_001, status: 'closed' });
    await clock.advance(5 * second);
    const next = restart();
    upstream.add({ id: 1_002, status: 'closed' });
    const again = follow(first.cursor, next);
    await clock.advance(10 * minute);
    expect(first.lines).toEqual(['CLOSED 1001']);
    expect(again.lines).toEqual(['CLOSED 1002']);
  });

  it('can be cut off anywhere in what is replayed', async () => {
    const { upstream, clock, follow, restart } = begin();
    const first = follow();
    await clock.advance(second);
    upstream.add({ id: 1, status: 'closed' });
    await clock.advance(5 * second);
    const next = restart();
    for (let id = 2; id <= 9; id++)
      upstream.add({ id, startMs: clock.wallMs() + (id % 3), status: 'closed' });
    const whole = follow(first.cursor, next);
    await clock.advance(5 * second);
    for (const [index, { cursor }] of whole.got.entries()) {
      const rest = follow(cursor, next);
      const afterAnother = follow(cursor, runOver(upstream));
      await clock.advance(5 * second);
      expect(rest.lines).toEqual(whole.lines.slice(index + 1));
      expect(afterAnother.lines).toEqual(whole.lines.slice(index + 1));
    }
  });

  it('is resumed a week later', async () => {
    const { upstream, clock, follow, restart } = begin();
    const first = follow();
    await clock.advance(second);
    upstream.add({ id: 1, status: 'closed' });
    const open = upstream.add({ id: 2 });
    await clock.advance(5 * second);
    const next = restart();
    const expected: string[] = ['CLOSED 2'];
    for (let id = 1_000; id < 2_500; id++) {
      upstream.add({ id, startMs: clock.wallMs() + (id - 999) * 6 * minute, status: 'closed' });
      expected.push(`CLOSED ${id}`);
    }
    await clock.advance(6.5 * day);
    open.status = 'closed';
    const again = follow(first.cursor, next);
    await clock.advance(minute);
    expect(again.lines).toEqual(expected);
    expect(upstream.mostInFlight).toBe(1);
  });

  it('ends with an expired cursor after more than a week', async () => {
    const { upstream, clock, follow, restart } = begin();
    const first = follow();
    await clock.advance(second);
    upstream.add({ id: 1, status: 'closed' });
    await clock.advance(5 * second);
    const next = restart();
    await clock.advance(8 * day);
    upstream.add({ id: 2, status: 'closed' });
    const again = follow(first.cursor, next);
    await clock.advance(minute);
    expect(again.error).toBeInstanceOf(CursorExpired);
    expect(again.lines).toEqual([]);
  });

  it('waits for an upstream that is unavailable', async () => {
    const { upstream, clock, follow, restart } = begin();
    const first = follow();
    await clock.advance(second);
    upstream.add({ id: 1, status: 'closed' });
    await clock.advance(5 * second);
    const next = restart();
    upstream.failing = 1_000;
    upstream.add({ id: 2, status: 'closed' });
    const again = follow(first.cursor, next);
    await clock.advance(hour);
    upstream.add({ id: 3, status: 'closed' });
    upstream.failing = 0;
    await clock.advance(minute);
    expect(again.lines).toEqual(['CLOSED 2', 'CLOSED 3']);
  });

  it('costs one reading however many come back at once', async () => {
    const { upstream, clock, follow, restart } = begin();
    for (let id = 1; id <= 3_000; id++) {
      upstream.add({ id, startMs: clock.wallMs() - id * 20 * second, status: 'closed' });
    }
    const first = follow();
    await clock.advance(minute);
    upstream.add({ id: 5_000, status: 'closed' });
    await clock.advance(5 * second);
    const next = restart();
    upstream.add({ id: 5_001, status: 'closed' });
    upstream.reads = 0;
    const all = Array.from({ length: 200 }, () => follow(first.cursor, next));
    await clock.advance(20 * second);
    for (const { lines } of all) expect(lines).toEqual(['CLOSED 5001']);
    // A day of 4,320 has nine pages.
    expect(upstream.reads).toBeLessThan(20);
  });

  it('is refused at once with what is no cursor of this feed', () => {
    const { follow } = begin();
    expect(() => follow('bm8')).toThrow(CursorInvalid);
    expect(() => follow('')).toThrow(CursorInvalid);
  });
});

describe('a subscriber who comes from a list', () => {
  it('receives what the list does not show, and nothing that it does', async () => {
    const { upstream, clock, run, follow } = begin();
    upstream.add({ id: 1, startMs: clock.wallMs() - 2 * minute, status: 'closed' });
    const open = upstream.add({ id: 2, startMs: clock.wallMs() - minute });
    const { triggers, cursor } = await run.list();
    expect(triggers.map(({ triggerId }) => triggerId)).toEqual(['2', '1']);
    // Between the two: one that is new, one that is late, one that closes.
    upstream.add({ id: 3, status: 'closed' });
    upstream.add({ id: 4, status: 'closed', startMs: clock.wallMs() - 90 * second });
    open.status = 'closed';
    await clock.advance(hour);
    const follower = follow(cursor);
    await clock.advance(minute);
    expect(follower.lines).toEqual(['CLOSED 4', 'CLOSED 2', 'CLOSED 3']);
  });

  it('goes on from an empty list', async () => {
    const { upstream, clock, run, follow } = begin();
    const { triggers, cursor } = await run.list();
    expect(triggers).toEqual([]);
    upstream.add({ id: 1, status: 'closed' });
    const follower = follow(cursor);
    await clock.advance(minute);
    expect(follower.error).toBeNull();
    expect(follower.lines).toEqual(['CLOSED 1']);
  });

  it('goes on from a filtered list', async () => {
    const { upstream, clock, run, follow } = begin();
    for (let id = 1; id <= 5; id++) {
      upstream.add({ id, startMs: clock.wallMs() - id * minute, status: 'closed', pga: id });
    }
    const { triggers, cursor } = await run.list({ filter: { minPgaMg: 4 } });
    expect(triggers).toHaveLength(2);
    upstream.add({ id: 6, status: 'closed', pga: 8 });
    const follower = follow(cursor);
    await clock.advance(minute);
    expect(follower.lines).toEqual(['CLOSED 6']);
  });

  it('does not receive again what its list had shown before the feed did', async () => {
    const { upstream, clock, run, follow } = begin();
    const other = follow();
    await clock.advance(second);
    upstream.add({ id: 1, status: 'closed' });
    upstream.add({ id: 2 });
    const { triggers, cursor } = await run.list();
    expect(triggers).toHaveLength(2);
    const follower = follow(cursor);
    await clock.advance(minute);
    expect(follower.lines).toEqual([]);
    expect(other.lines).toEqual(['CLOSED 1', 'OPENED 2']);
  });
});

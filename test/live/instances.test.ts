import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedSettings } from '../../src/live/feeds/sources.js';
import { expectEachOnce, Screen } from './schedules.js';
import { type ModelLink, SharedModel } from './shared-model.js';
import { Follower, type Run, runOver, UpstreamModel } from './upstream-model.js';

const second = 1_000;
const minute = 60 * second;

interface Instance {
  run: Run;
  link: ModelLink;
}

function begin(count: number, settings: Partial<FeedSettings> = {}) {
  const upstream = new UpstreamModel();
  const { clock } = upstream;
  const shared = new SharedModel(clock);
  const start = (): Instance => {
    const link = shared.link();
    return { link, run: runOver(upstream, { changes: link, random: () => 0.5, settings }) };
  };
  const instances = Array.from({ length: count }, start);
  const follow = (instance: Instance, after: string | null = null) =>
    new Follower(instance.run.feeds.triggerChanges({ filter: null, after }));
  /** No goodbye: its process was killed. */
  const kill = ({ link, run }: Instance) => {
    link.die();
    run.feeds.close();
  };
  return { upstream, clock, shared, instances, start, follow, kill };
}

describe('several instances', () => {
  it('poll upstream as one, and each delivers every change once to its subscribers', async () => {
    const { upstream, clock, instances, follow } = begin(3);
    const followers = instances.flatMap((instance) => [follow(instance), follow(instance)]);
    await clock.advance(10 * second);
    const before = upstream.reads;
    for (let id = 1; id <= 20; id++) {
      upstream.add({ id, status: 'closed' });
      await clock.advance(5 * second);
    }
    expect(upstream.reads - before).toBeLessThanOrEqual(21);
    const all = Array.from({ length: 20 }, (_, i) => `CLOSED ${i + 1}`);
    for (const { lines } of followers) expect(lines).toEqual(all);
    // Tabs whose connections are to different instances see by it that they are at the same place.
    const places = followers.map(({ got }) => got.map(({ cursor }) => cursor.split('.', 1)[0]));
    expect(new Set(places[0]).size).toBe(20);
    for (const others of places) expect(others).toEqual(places[0]);
  });

  it('go on within 10 s when the one that polls is killed, with nothing lost and nothing twice', async () => {
    const { upstream, clock, shared, instances, follow, kill } = begin(3);
    const followers = instances.map((instance) => follow(instance));
    await clock.advance(10 * second);
    const trigger = upstream.add({ id: 1 });
    await clock.advance(5 * second);
    const polling = instances.findIndex(({ link }) => link === shared.lease?.holder);
    kill(instances[polling] as Instance);
    upstream.add({ id: 2, status: 'closed' });
    trigger.status = 'closed';
    await clock.advance(10 * second);
    const others = followers.filter((_, i) => i !== polling);
    for (const { lines } of others) expect(lines).toEqual(['OPENED 1', 'CLOSED 1', 'CLOSED 2']);
  });

  it('deliver everything from the log to one that has come from another, change by change', async () => {
    const { upstream, clock, instances, start, follow, kill } = begin(2);
    const [a, b] = instances as [Instance, Instance];
    follow(b);
    const first = follow(a);
    await clock.advance(10 * second);
    const trigger = upstream.add({ id: 1 });
    await clock.advance(5 * second);
    kill(a);
    for (let pga = 2; pga < 5; pga++) {
      trigger.pga = pga;
      await clock.advance(12 * second);
    }
    trigger.status = 'closed';
    await clock.advance(5 * second);
    const missed = ['UPDATED 1', 'UPDATED 1', 'UPDATED 1', 'CLOSED 1'];
    // One that was there all the time, and one that has only now been started.
    for (const instance of [b, start()]) {
      const again = follow(instance, first.cursor);
      await clock.advance(second);
      expect(again.lines).toEqual(missed);
      expect(again.got.every(({ isReplayed }) => isReplayed)).toBe(true);
    }
  });

  it('do not deliver to a new subscriber what was there before, wherever it comes', async () => {
    const { upstream, clock, instances, start, follow } = begin(1);
    follow(instances[0] as Instance);
    await clock.advance(10 * second);
    upstream.add({ id: 1 });
    await clock.advance(10 * second);
    const late = follow(start());
    await clock.advance(10 * second);
    expect(late.lines).toEqual([]);
    upstream.add({ id: 2, status: 'closed' });
    await clock.advance(10 * second);
    expect(late.lines).toEqual(['CLOSED 2']);
  });

  describe('that are polled for more often than they send heartbeats', () => {
    const often = { triggerPollIntervalMs: 500 };

    it('deliver at once where one of them listened before the first poll', async () => {
      const { upstream, clock, instances, follow } = begin(2, often);
      const followers = instances.map((instance) => follow(instance));
      await clock.advance(600);
      upstream.add({ id: 1, status: 'closed' });
      await clock.advance(600);
      for (const { lines } of followers) expect(lines).toEqual(['CLOSED 1']);
    });

    it.each([600, 10 * second])('deliver to a new subscriber only what comes after it: %i ms', async (ms) => {
      const { upstream, clock, shared, instances, follow } = begin(2, often);
      const followers = instances.map((instance) => follow(instance));
      await clock.advance(ms);
      const other = instances.find(({ link }) => link !== shared.lease?.holder) as Instance;
      other.link.isDeaf = true;
      upstream.add({ id: 1, status: 'closed' });
      await clock.advance(600);
      const late = follow(other);
      await clock.advance(10 * second);
      expect(late.lines).toEqual([]);
      for (const { lines } of followers) expect(lines).toEqual(['CLOSED 1']);
    });
  });

  it('say how far upstream has been read, whichever reads it', async () => {
    const { clock, instances, follow } = begin(2);
    for (const instance of instances) follow(instance);
    await clock.advance(30 * second);
    for (const { run } of instances) {
      const [status] = run.feeds.status();
      expect(status?.isFailing).toBe(false);
      expect(status?.lagMs).toBeLessThanOrEqual(8 * second);
    }
  });

  it('go on while partitioned, and resync after it', async () => {
    const { upstream, clock, shared, instances, follow } = begin(3);
    const followers = instances.map((instance) => follow(instance));
    await clock.advance(10 * second);
    const trigger = upstream.add({ id: 1 });
    await clock.advance(5 * second);
    for (const { link } of instances) link.setUp(false);
    upstream.add({ id: 2, status: 'closed' });
    trigger.pga = 7;
    await clock.advance(10 * second);
    for (const { lines } of followers) expect(lines).toEqual(['OPENED 1', 'UPDATED 1', 'CLOSED 2']);
    shared.flush();
    upstream.add({ id: 3, status: 'closed' });
    for (const { link } of instances) link.setUp(true);
    trigger.status = 'closed';
    await clock.advance(10 * second);
    const before = upstream.reads;
    upstream.add({ id: 4, status: 'closed' });
    await clock.advance(10 * second);
    expect(upstream.reads - before).toBeLessThanOrEqual(3);
    for (const { lines } of followers) {
      expect(lines.slice(0, 3)).toEqual(['OPENED 1', 'UPDATED 1', 'CLOSED 2']);
      expect([...lines.slice(3, 5)].sort()).toEqual(['CLOSED 1', 'CLOSED 3']);
      expect(lines.slice(5)).toEqual(['CLOSED 4']);
    }
  });

  it('deliver the same changes, however wrong their clocks are', async () => {
    const { upstream, clock, instances, follow } = begin(2);
    const followers = instances.map((instance) => follow(instance));
    await clock.advance(10 * second);
    const trigger = upstream.add({ id: 1 });
    await clock.advance(5 * second);
    for (const { link } of instances) link.timeErrorMs = minute;
    trigger.pga = 2;
    await clock.advance(5 * second);
    for (const { lines } of followers) expect(lines).toEqual(['OPENED 1', 'UPDATED 1']);
  });

  it('give one that joins after thousands of changes the state as of then', async () => {
    const { upstream, clock, shared, instances, start, follow } = begin(1);
    const [first] = instances as [Instance];
    const follower = follow(first);
    await clock.advance(10 * second);
    for (let batch = 0; batch < 5; batch++) {
      for (let i = 1; i <= 410; i++) upstream.add({ id: batch * 410 + i, status: 'closed' });
      await clock.advance(10 * second);
    }
    expect(follower.got).toHaveLength(2_050);
    expect(shared.snapshot?.offset).toBeGreaterThanOrEqual(2_000);
    const joined = start();
    const [late, again] = [follow(joined), follow(joined, follower.got[2_040]?.cursor)];
    const [longAgo] = [follow(joined, follower.got[1_000]?.cursor)];
    upstream.add({ id: 9_999, status: 'closed' });
    await clock.advance(10 * second);
    expect(late.lines).toEqual(['CLOSED 9999']);
    expect(again.lines).toEqual(follower.lines.slice(2_041));
    expect(longAgo.lines).toEqual(follower.lines.slice(1_001));
  });

  it('whatever happens to them, deliver each trigger once', async () => {
    await fc.assert(fc.asyncProperty(schedule, playAndCheck), { numRuns: 40 });
  }, 180_000);
});

type Event =
  | { readonly do: 'open' | 'appear closed' | 'update' | 'close' }
  | { readonly do: 'burst' | 'fail' | 'flush' | 'away' | 'back' }
  | { readonly do: 'kill' | 'cut off' | 'rejoin' | 'slow' | 'lose' | 'leave' | 'come back' };

const names = (weight: number, ...all: Event['do'][]) => ({ weight, arbitrary: fc.constantFrom(...all) });
const schedule = fc.array(
  fc.tuple(
    fc.oneof(
      names(6, 'open', 'appear closed', 'update', 'close'),
      names(1, 'burst', 'fail', 'flush'),
      names(2, 'away', 'back', 'cut off', 'rejoin', 'kill', 'slow', 'lose'),
      names(4, 'leave', 'come back'),
    ),
    fc.nat(1_000),
    fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 30_000 })),
  ),
  { minLength: 5, maxLength: 40 },
);

async function playAndCheck(events: readonly (readonly [Event['do'], number, number])[]): Promise<void> {
  const { upstream, clock, shared, instances, start, kill } = begin(3);
  let nextId = 1_000;
  const screens = [new Screen(), new Screen(), new Screen()];
  const at = new Map<Screen, Instance>();
  const instanceAt = (pick: number) => instances[pick % instances.length] as Instance;
  const connect = (screen: Screen, pick: number) => {
    if (!at.has(screen)) at.set(screen, instanceAt(pick));
    screen.connect((at.get(screen) as Instance).run);
  };
  const disconnect = (screen: Screen) => {
    screen.disconnect();
    at.delete(screen);
  };
  for (const [i, screen] of screens.entries()) {
    await screen.begin(instanceAt(i).run, 50);
    connect(screen, i);
    await clock.advance(second);
  }
  const open = () => upstream.triggers.filter(({ status }) => status === 'open');
  for (const [event, pick, thenMs] of events) {
    const screen = screens[pick % 3] as Screen;
    const trigger = open()[pick % Math.max(1, open().length)];
    switch (event) {
      case 'open':
        upstream.add({ id: nextId++ });
        break;
      case 'appear closed':
        upstream.add({ id: nextId++, status: 'closed', startMs: clock.wallMs() - (pick % 60) * 1_000 });
        break;
      case 'burst':
        for (let i = 0; i < 40; i++) upstream.add({ id: nextId++, status: i % 2 ? 'open' : 'closed' });
        break;
      case 'update':
        if (trigger) trigger.pga = (trigger.pga ?? 0) + 1;
        break;
      case 'close':
        if (trigger) Object.assign(trigger, { status: 'closed', pga: (trigger.pga ?? 0) + 0.5 });
        break;
      case 'fail':
        upstream.failing += 1 + (pick % 5);
        break;
      case 'flush':
        shared.flush();
        break;
      case 'away':
      case 'back':
        for (const { link } of instances) link.setUp(event === 'back');
        break;
      case 'cut off':
      case 'rejoin':
        instanceAt(pick).link.setUp(event === 'rejoin');
        break;
      case 'slow':
        instanceAt(pick).link.latencyMs = pick % 2 ? 300 : 0;
        break;
      case 'lose':
        instanceAt(pick).link.losing++;
        break;
      case 'kill': {
        const killed = instanceAt(pick);
        for (const [one, instance] of at) {
          if (instance !== killed) continue;
          one.cut();
          at.delete(one);
        }
        kill(killed);
        instances[pick % instances.length] = start();
        break;
      }
      case 'leave':
        disconnect(screen);
        break;
      case 'come back':
        connect(screen, pick);
        break;
    }
    await clock.advance(thenMs);
  }
  upstream.failing = 0;
  for (const { link } of instances) {
    Object.assign(link, { latencyMs: 0, losing: 0 });
    link.setUp(true);
  }
  for (const [i, screen] of screens.entries()) connect(screen, i);
  await clock.advance(minute);
  for (const trigger of open()) Object.assign(trigger, { status: 'closed', pga: (trigger.pga ?? 0) + 0.5 });
  await clock.advance(12 * minute);
  for (const { run } of instances) run.feeds.close();
  await clock.advance(0);
  expectEachOnce(upstream, screens);
}

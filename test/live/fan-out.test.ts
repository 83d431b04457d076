import { describe, expect, it } from 'vitest';
import { type ForwardMs, ManualClock } from '../../src/clock.js';
import { FellBehind } from '../../src/errors.js';
import { FanOut } from '../../src/live/delivery/fan-out.js';
import type { Sink } from '../../src/live/delivery/sink.js';
import type { Feed, FeedListener } from '../../src/live/feeds/feed.js';
import { ChangeLog, type LogEntry } from '../../src/live/tracking/change-log.js';

interface TestChange {
  readonly id: number;
  readonly kind: 'OPENED' | 'UPDATED' | 'CLOSED';
  readonly observedAtMs: ForwardMs;
}

/** A feed whose changes a test appends. */
class TestFeed implements Feed<TestChange> {
  readonly recordsPerCursor = 0;
  readonly clock = new ManualClock();
  readonly log = new ChangeLog<TestChange>(this.clock, { maxChanges: 5_000, maxAgeMs: 86_400_000 });
  readonly listeners = new Set<FeedListener<TestChange>>();
  readonly #last = new Map<number, { last: LogEntry<TestChange> | null }>();

  say(id: number, kind: TestChange['kind'] = 'CLOSED'): void {
    const of = this.#last.get(id) ?? { last: null };
    this.#last.set(id, of);
    this.log.append({ id, kind, observedAtMs: this.clock.now() }, of);
  }

  isFolded = ({ kind }: TestChange) => kind === 'UPDATED';
  check(): void {}
  status(): never {
    throw new Error('Nobody asks');
  }
  close(): void {}

  subscribe(after: string | null, listener: FeedListener<TestChange>) {
    this.listeners.add(listener);
    const from = after === null ? this.log.next : Number(after);
    listener.begin({ replay: [], from, liveFrom: this.log.next });
    return { unsubscribe: () => void this.listeners.delete(listener) };
  }

  group(render = (text: string): string | Promise<string> => text, filter = (_: TestChange) => true) {
    const options = { feed: this, clock: this.clock, filter };
    return new FanOut<TestChange, string>({
      ...options,
      render: ({ change, isReplayed }) =>
        render(`${change.kind} ${change.id}${isReplayed ? ' replayed' : ''}`),
    });
  }
}

/** Takes as much as `room` allows. */
class TestSink implements Sink<string> {
  readonly got: string[] = [];
  ended: unknown;
  #whenReady: (() => void) | null = null;
  #room: number;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room;
  }

  get isReady(): boolean {
    return this.#room > 0;
  }

  send(payload: string): void {
    expect(this.isReady).toBe(true);
    this.#room--;
    this.got.push(payload);
  }

  whenReady(run: () => void): void {
    expect(this.#whenReady).toBeNull();
    this.#whenReady = run;
  }

  end(error: unknown): void {
    this.ended = error;
  }

  take(room: number): void {
    this.#room += room;
    const run = this.#whenReady;
    this.#whenReady = null;
    run?.();
  }
}

describe('a group of subscribers', () => {
  it('makes each payload once, for all of them', async () => {
    const feed = new TestFeed();
    let made = 0;
    const group = feed.group(async (text) => {
      made++;
      return text;
    });
    const sinks = Array.from({ length: 100 }, () => new TestSink());
    for (const sink of sinks) group.join(null, sink);
    for (let id = 1; id <= 20; id++) feed.say(id);
    await feed.clock.advance(0);
    expect(made).toBe(20);
    for (const { got } of sinks) expect(got).toEqual(sinks[0]?.got);
    expect(sinks[0]?.got).toEqual(Array.from({ length: 20 }, (_, i) => `CLOSED ${i + 1}`));
  });

  it('keeps the order though payloads are made side by side, and the first takes longest', async () => {
    const feed = new TestFeed();
    const group = feed.group(async (text) => {
      await feed.clock.sleep(1_000 / Number(text.split(' ')[1]));
      return text;
    });
    const sink = new TestSink();
    group.join(null, sink);
    for (let id = 1; id <= 5; id++) feed.say(id);
    await feed.clock.advance(1_000);
    expect(sink.got).toEqual([1, 2, 3, 4, 5].map((id) => `CLOSED ${id}`));
  });

  it('is not held up by one that takes nothing', async () => {
    const feed = new TestFeed();
    const group = feed.group();
    const [slow, quick] = [new TestSink(3), new TestSink()];
    group.join(null, slow);
    group.join(null, quick);
    for (let id = 1; id <= 500; id++) feed.say(id);
    await feed.clock.advance(0);
    expect(quick.got).toHaveLength(500);
    expect(slow.got).toHaveLength(3);
    slow.take(1_000);
    await feed.clock.advance(0);
    expect(slow.got).toEqual(quick.got);
    feed.say(501);
    await feed.clock.advance(0);
    expect(slow.got).toEqual(quick.got);
  });

  it('folds what a slow one has missed of one trigger, and drops neither its opening nor its end', async () => {
    const feed = new TestFeed();
    const group = feed.group();
    const slow = new TestSink(1);
    group.join(null, slow);
    feed.say(0);
    await feed.clock.advance(0);
    for (const id of [1, 2]) feed.say(id, 'OPENED');
    for (let i = 0; i < 50; i++) for (const id of [1, 2]) feed.say(id, 'UPDATED');
    feed.say(1, 'CLOSED');
    slow.take(1_000);
    await feed.clock.advance(0);
    expect(slow.got).toEqual(['CLOSED 0', 'OPENED 1', 'OPENED 2', 'UPDATED 1', 'UPDATED 2', 'CLOSED 1']);
  });

  it('ends one that is 1,000 behind and takes nothing, and that one alone', async () => {
    const feed = new TestFeed();
    const group = feed.group();
    const [slow, patient, quick] = [new TestSink(1), new TestSink(1), new TestSink()];
    for (const sink of [slow, quick]) group.join(null, sink);
    for (let id = 1; id <= 1_500; id++) feed.say(id);
    group.join(null, patient);
    for (let id = 1; id <= 999; id++) feed.say(id, 'OPENED');
    await feed.clock.advance(60_000);
    expect(slow.ended).toBeInstanceOf(FellBehind);
    expect(patient.ended).toBeUndefined();
    expect(quick.got).toHaveLength(2_499);
    expect(feed.listeners.size).toBe(2);
  });

  it('leaves one alone that takes a burst more slowly', async () => {
    const feed = new TestFeed();
    const group = feed.group();
    const steady = new TestSink(1);
    group.join(null, steady);
    for (let id = 1; id <= 4_000; id++) feed.say(id);
    for (let i = 0; i < 40; i++) {
      steady.take(300);
      await feed.clock.advance(1_000);
    }
    expect(steady.ended).toBeUndefined();
    expect(steady.got).toHaveLength(4_000);
  });

  it('ends one whose offset the log has discarded', async () => {
    const feed = new TestFeed();
    const group = feed.group();
    const [slow, quick] = [new TestSink(1), new TestSink()];
    for (const sink of [slow, quick]) group.join(null, sink);
    feed.say(0);
    await feed.clock.advance(0);
    // More at once than the log holds: no subscriber may miss, without an error, what was evicted before it was delivered.
    for (let id = 1; id <= 6_000; id++) feed.say(id);
    slow.take(10_000);
    await feed.clock.advance(0);
    for (const { got, ended } of [slow, quick]) {
      expect(got).toEqual(['CLOSED 0']);
      expect(ended).toBeInstanceOf(FellBehind);
    }
  });

  it('replays from the log, then goes on live, without a gap', async () => {
    const feed = new TestFeed();
    const group = feed.group();
    for (let id = 1; id <= 4; id++) feed.say(id);
    const sink = new TestSink(1);
    group.join('2', sink);
    feed.say(5);
    sink.take(100);
    feed.say(6);
    await feed.clock.advance(0);
    expect(sink.got).toEqual([
      'CLOSED 2 replayed',
      'CLOSED 3 replayed',
      'CLOSED 4 replayed',
      'CLOSED 5',
      'CLOSED 6',
    ]);
  });

  it('wakes nobody for what the filter leaves out', async () => {
    const feed = new TestFeed();
    let made = 0;
    const group = feed.group(
      (text) => {
        made++;
        return text;
      },
      ({ id }) => id === 50,
    );
    const sink = new TestSink();
    group.join(null, sink);
    for (let id = 1; id <= 100; id++) feed.say(id);
    await feed.clock.advance(0);
    expect(sink.got).toEqual(['CLOSED 50']);
    expect(made).toBe(1);
  });

  it('leaves the feed with its last member, and keeps nothing of it', async () => {
    const feed = new TestFeed();
    const group = feed.group();
    const leaves = Array.from({ length: 10 }, () => group.join(null, new TestSink(0)));
    feed.say(1);
    for (const leave of leaves) leave();
    await feed.clock.advance(0);
    expect(feed.listeners.size).toBe(0);
    expect(group.size).toBe(0);
    expect(feed.clock.pendingTimers).toBe(0);
  });
});

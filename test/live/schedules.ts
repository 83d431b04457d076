import fc from 'fast-check';
import { expect } from 'vitest';
import type { Trigger } from '../../src/unify/trigger/record.js';
import { Follower, type Run, runOver, UpstreamModel } from './upstream-model.js';

/** What happens in one moment of a schedule. */
type Event =
  | {
      readonly do: 'open' | 'appear closed' | 'update' | 'close';
      readonly pick: number;
    }
  | { readonly do: 'late'; readonly byS: number; readonly isOpen: boolean }
  | { readonly do: 'burst'; readonly count: number }
  | { readonly do: 'fail'; readonly reads: number }
  | { readonly do: 'slow'; readonly latencyMs: number }
  | { readonly do: 'restart'; readonly downS: number }
  | { readonly do: 'leave' | 'come back'; readonly pick: number };

const pick = fc.nat(1_000);
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('open', 'appear closed', 'update', 'close' as const), pick }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('late' as const),
      byS: fc.integer({ min: 1, max: 40_000 }),
      isOpen: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('burst' as const), count: fc.constantFrom(3, 40, 650) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('fail' as const), reads: fc.integer({ min: 1, max: 8 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('slow' as const), latencyMs: fc.constantFrom(0, 300, 16_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restart' as const), downS: fc.integer({ min: 0, max: 900 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('leave', 'come back' as const), pick }) },
);
export const schedule = fc.array(fc.tuple(event, fc.integer({ min: 0, max: 40_000 })), {
  minLength: 5,
  maxLength: 40,
});

/** A client that begins with a list, and reconnects with its last cursor: all that it has received. */
export class Screen {
  readonly connections: Follower[] = [];
  readonly listed = new Map<string, Trigger>();
  #listCursor: string | null = null;
  #current: Follower | null = null;

  async begin({ list }: Run, first: number): Promise<void> {
    const { triggers, cursor } = await list({ first });
    for (const trigger of triggers) this.listed.set(trigger.triggerId, trigger);
    this.#listCursor = cursor;
  }

  connect({ feeds }: Run): void {
    if (this.#current) return;
    this.#current = new Follower(feeds.triggerChanges({ filter: null, after: this.cursor }));
    this.connections.push(this.#current);
  }

  disconnect(): void {
    this.#current?.leave();
    this.#current = null;
  }

  cut(): void {
    this.#current = null;
  }

  get received() {
    return this.connections.flatMap(({ got }) => got);
  }

  get cursor(): string | null {
    return this.received.at(-1)?.cursor ?? this.#listCursor;
  }
}

async function play(events: readonly (readonly [Event, number])[]) {
  const upstream = new UpstreamModel();
  const { clock } = upstream;
  for (let id = 1; id <= 30; id++) {
    upstream.add({ id, startMs: clock.wallMs() - id * 50_000, status: id % 10 === 0 ? 'open' : 'closed' });
  }
  let nextId = 1_000;
  let run = runOver(upstream);
  const screens = [new Screen(), new Screen(), new Screen()];
  // One lists and subscribes at once, one lists before anybody listens, one while somebody does.
  await screens[0]?.begin(run, 50);
  await screens[1]?.begin(run, 3);
  upstream.add({ id: 900 });
  screens[0]?.connect(run);
  upstream.add({ id: 901, status: 'closed', startMs: clock.wallMs() - 90_000 });
  await clock.advance(1_000);
  upstream.add({ id: 902 });
  await screens[2]?.begin(run, 50);
  screens[2]?.connect(run);
  const open = () => upstream.triggers.filter(({ status }) => status === 'open');

  for (const [event, thenMs] of events) {
    switch (event.do) {
      case 'open':
        upstream.add({ id: nextId++ });
        break;
      case 'appear closed':
        upstream.add({ id: nextId++, status: 'closed', startMs: clock.wallMs() - (event.pick % 60) * 1_000 });
        break;
      case 'late':
        upstream.add({
          id: nextId++,
          status: event.isOpen ? 'open' : 'closed',
          startMs: clock.wallMs() - event.byS * 1_000,
        });
        break;
      case 'burst': {
        // Many of one moment: equal times on both sides of a page's end.
        // What a cursor has no room for, and then comes late, is not asked about: one large burst is enough.
        const startMs = clock.wallMs();
        const count = nextId > 1_600 ? Math.min(event.count, 40) : event.count;
        for (let i = 0; i < count; i++) {
          upstream.add({ id: nextId++, startMs: startMs - (i % 3), status: i % 2 ? 'open' : 'closed' });
        }
        break;
      }
      case 'update': {
        const trigger = open()[event.pick % Math.max(1, open().length)];
        if (trigger) trigger.pga = (trigger.pga ?? 0) + 1;
        break;
      }
      case 'close': {
        const trigger = open()[event.pick % Math.max(1, open().length)];
        if (trigger)
          Object.assign(trigger, { status: 'closed', pga: (trigger.pga ?? 0) + 0.5, station: null });
        break;
      }
      case 'fail':
        upstream.failing += event.reads;
        break;
      case 'slow':
        upstream.latencyMs = event.latencyMs;
        break;
      case 'restart':
        for (const screen of screens) screen.cut();
        run.feeds.close();
        await clock.advance(event.downS * 1_000);
        run = runOver(upstream);
        for (const screen of screens) screen.connect(run);
        break;
      case 'leave':
        screens[event.pick % 3]?.disconnect();
        break;
      case 'come back':
        screens[event.pick % 3]?.connect(run);
        break;
    }
    await clock.advance(thenMs);
  }
  // Then all calms down: everything closes, everyone is there, and a sweep has passed.
  upstream.latencyMs = 0;
  upstream.failing = 0;
  for (const screen of screens) screen.connect(run);
  await clock.advance(60_000);
  for (const trigger of open()) Object.assign(trigger, { status: 'closed', pga: (trigger.pga ?? 0) + 0.5 });
  await clock.advance(12 * 60_000);
  run.feeds.close();
  await clock.advance(0);
  return { upstream, screens };
}

/** Plays a schedule, and looks at what every screen received. */
export async function playAndCheck(events: readonly (readonly [Event, number])[]): Promise<void> {
  const { upstream, screens } = await play(events);
  expect(upstream.mostInFlight).toBeLessThanOrEqual(1);
  expectEachOnce(upstream, screens);
}

/** When all has closed: every screen received each trigger once, in order, and with its final values. */
export function expectEachOnce(upstream: UpstreamModel, screens: readonly Screen[]): void {
  for (const screen of screens) {
    const histories = new Map<string, { kind: string; pga: unknown }[]>();
    for (const { id, kind, pga } of screen.received) {
      histories.set(id, [...(histories.get(id) ?? []), { kind, pga }]);
    }
    for (const { id, pga, status } of upstream.triggers) {
      expect(status).toBe('closed');
      const listed = screen.listed.get(String(id));
      const history = histories.get(String(id)) ?? [];
      const kinds = history.map(({ kind }) => kind).join(' ');
      // What a list shows counts as received. What it does not reach back to was delivered to nobody.
      const isOld = id < 900 && !listed;
      if (listed?.status === 'CLOSED') expect(kinds, `of ${id}`).toBe('');
      else if (listed) expect(kinds, `of ${id}`).toMatch(/^(UPDATED )*CLOSED$/);
      else if (!isOld || history.length > 0)
        expect(kinds, `of ${id}`).toMatch(/^(OPENED )?(UPDATED )*CLOSED$/);
      if (history.length > 0) expect(history.at(-1)?.pga).toBe(pga);
      const states = [...(listed ? [listed.pgaHorizontalMg] : []), ...history.map(({ pga }) => pga)];
      const isRepeated = states.some((state, i) => i > 0 && state === states[i - 1]);
      expect(isRepeated, `${id} ${kinds} ${states}`).toBe(false);
    }
    for (const connection of screen.connections) expect(connection.error).toBeNull();
  }
}

import { ManualClock } from '../../src/clock.js';
import { createFeeds, type Feeds } from '../../src/live/feeds/feeds.js';
import { createLog } from '../../src/log.js';
import type { SharedChanges } from '../../src/store/store.js';
import { Tenant } from '../../src/unify/context.js';
import { asId } from '../../src/upstream/decode/fields.js';
import type { EventQuery, ProjectClient } from '../../src/upstream/project/client.js';
import type { WireEvent } from '../../src/upstream/project/wire.js';
import type { Page, Read } from '../../src/upstream/read/read.js';

export interface ModelEvent {
  readonly id: string;
  issuedMs: number;
  magnitude: number;
  isLocated: boolean;
}

/** The event list of the project interface in memory, on a clock that tests drive: for days of thousands of events. */
export class EventModel {
  readonly clock = new ManualClock();
  readonly events: ModelEvent[] = [];

  add(event: Partial<ModelEvent> & { readonly id: string }): ModelEvent {
    const added = { issuedMs: this.clock.wallMs(), magnitude: 3, isLocated: true, ...event };
    this.events.push(added);
    return added;
  }

  feeds(changes: SharedChanges | null = null): Feeds {
    const client: Pick<ProjectClient, 'events' | 'status' | 'delivering'> = {
      delivering: () => {},
      events: (query) => Promise.resolve(this.#page(query)),
      status: () => ({ rateLimit: { perMinute: 6_000, remainingToday: null } }) as never,
    };
    const tenant = new Tenant({
      project: client as ProjectClient,
      catalogue: null,
      clock: this.clock,
      log: createLog({ level: 'silent', secrets: [] }),
      signal: new AbortController().signal,
    });
    const settings = {
      triggerPollIntervalMs: 5_000,
      triggerLookbackS: 600,
      eventPollIntervalMs: 10_000,
      sensorPollIntervalMs: 30_000,
    };
    return createFeeds({
      changes: () => changes,
      connection: changes?.connection ?? null,
      tenant,
      settings,
      random: () => 0.5,
    });
  }

  #page({ from, to, order, limit, offset }: EventQuery): Read<Page<WireEvent>> {
    const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
    const toMs = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
    const matching = this.events
      .filter(({ issuedMs }) => issuedMs >= fromMs && issuedMs <= toMs)
      .sort((a, b) => (order === 'asc' ? 1 : -1) * (a.issuedMs - b.issuedMs || (a.id < b.id ? -1 : 1)));
    const items = matching.slice(offset, offset + limit).map(wireOf);
    return {
      value: { items, total: matching.length, received: items.length },
      readAtMs: this.clock.now(),
    };
  }
}

/** As a follower writes it down. */
export function stateOf({ issuedMs, magnitude }: ModelEvent): string {
  return `${new Date(issuedMs).toISOString()} ${magnitude}`;
}

function wireOf({ id, issuedMs, magnitude, isLocated }: ModelEvent): WireEvent {
  const origin = {
    id: `o${id}`,
    latitude: 34,
    longitude: -118,
    depth: 8,
    origin_time: issuedMs / 1000 - 30,
    issued_at: issuedMs / 1000,
  };
  return {
    id: asId(id),
    issued_at: new Date(issuedMs).toISOString(),
    magnitude,
    station_count: 5,
    pick_stations: null,
    origin: isLocated ? origin : null,
  } as unknown as WireEvent;
}

/** A subscriber that takes everything at once. */
export class EventFollower {
  readonly got: { kind: string; id: string; cursor: string; state: string }[] = [];
  error: unknown = null;
  readonly #iterator;

  constructor(feeds: Feeds, after: string | null = null) {
    const iterator = feeds.eventChanges({ filter: null, after })[Symbol.asyncIterator]();
    this.#iterator = iterator;
    void (async () => {
      try {
        for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
          const { kind, record, cursor } = step.value.change;
          const state = `${record.time} ${record.event.magnitude}`;
          this.got.push({ kind, id: record.id, cursor: cursor(), state });
        }
      } catch (error) {
        this.error = error;
      }
    })();
  }

  get lines(): string[] {
    return this.got.map(({ kind, id }) => `${kind} ${id}`);
  }

  leave(): void {
    void this.#iterator.return?.();
  }
}

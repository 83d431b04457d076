import { type Clock, type ForwardMs, latest, longAgo, plus } from '../../clock.js';
import type { Read } from '../read/read.js';
import type { ReadRequest } from '../read/request.js';
import type { RecordKind } from './freshness.js';

/** A record that a feed is about to deliver. */
export interface Delivered {
  readonly kind: RecordKind;
  /** Set for a record that has a detail, which lists name by this id. */
  readonly id?: string;
  /** The record itself, where it can be added to cached lists. */
  readonly read?: Read<unknown>;
}

// Per kind. A list with more deliveries than this since it was requested is read anew.
const mostRecords = 500;
const mostDetails = 20_000;
// Separates events within one millisecond: a double of today's milliseconds is exact to a quarter of this.
const tickMs = 1 / 1024;

/**
 * Records that the feeds of one key have delivered, with times: a response that was requested before can lack them
 * (docs/behaviour.md 5.7). The time of the request decides, not that of the response: upstream can have made a response
 * before that of the poll, although it arrives later.
 */
export class DeliveryLog {
  readonly #clock: Clock;
  readonly #latestMs = new Map<RecordKind, ForwardMs>();
  readonly #recordsOf = new Map<RecordKind, { readonly atMs: ForwardMs; readonly read: Read<unknown> }[]>();
  /** Records delivered up to then are no longer stored, or never were. */
  readonly #droppedMs = new Map<RecordKind, ForwardMs>();
  readonly #detailMs = new Map<string, ForwardMs>();
  #droppedDetailMs: ForwardMs = longAgo;
  #nowMs: ForwardMs = longAgo;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Now on the forward clock, and later than any time returned before: order counts within a millisecond too.
   */
  nextMs(): ForwardMs {
    this.#nowMs = latest(this.#clock.now(), plus(this.#nowMs, tickMs));
    return this.#nowMs;
  }

  add({ kind, id, read }: Delivered): void {
    const atMs = this.nextMs();
    this.#latestMs.set(kind, atMs);
    if (id !== undefined) this.#addDetail(detailName(kind, id), atMs);
    const records = this.#recordsOf.get(kind) ?? [];
    this.#recordsOf.set(kind, records);
    if (read) records.push({ atMs, read });
    else this.#droppedMs.set(kind, atMs);
    const dropped = records.length > mostRecords ? records.shift() : undefined;
    if (dropped) this.#droppedMs.set(kind, dropped.atMs);
  }

  /** True where a response to `request` that was requested at `askedAtMs` can lack a record delivered since. */
  isLacking(
    askedAtMs: ForwardMs,
    { kind, listedAs }: Pick<ReadRequest<unknown>, 'kind' | 'listedAs'>,
  ): boolean {
    const deliveredMs =
      listedAs === undefined
        ? (this.#latestMs.get(kind) ?? longAgo)
        : (this.#detailMs.get(listedAs) ?? this.#droppedDetailMs);
    // An instance of an earlier version shares no request time: NaN is not later than anything.
    return deliveredMs > longAgo && !(askedAtMs > deliveredMs);
  }

  /** Records delivered since then, oldest first; null where not all of them are stored. */
  since(kind: RecordKind, askedAtMs: ForwardMs): readonly Read<unknown>[] | null {
    if (!(askedAtMs > (this.#droppedMs.get(kind) ?? longAgo))) return null;
    return (this.#recordsOf.get(kind) ?? []).filter(({ atMs }) => atMs >= askedAtMs).map(({ read }) => read);
  }

  /** The records that are stored, oldest first. */
  records(kind: RecordKind): readonly Read<unknown>[] {
    return (this.#recordsOf.get(kind) ?? []).map(({ read }) => read);
  }

  /** Forgets the records, but not that they were delivered. */
  clear(): void {
    for (const [kind, atMs] of this.#latestMs) this.#droppedMs.set(kind, atMs);
    this.#recordsOf.clear();
  }

  #addDetail(name: string, atMs: ForwardMs): void {
    this.#detailMs.delete(name);
    this.#detailMs.set(name, atMs);
    for (const [oldest, oldestMs] of this.#detailMs) {
      if (this.#detailMs.size <= mostDetails) break;
      this.#detailMs.delete(oldest);
      this.#droppedDetailMs = oldestMs;
    }
  }
}

/** The name that lists give a record that has a detail. */
export function detailName(kind: RecordKind, id: string): string {
  return `${kind} ${id}`;
}

import type { Clock } from '../../clock.js';
import type { Read } from '../read/read.js';
import type { ReadRequest } from '../read/request.js';
import type { RecordKind } from './freshness.js';

/** A record that a feed is about to deliver. */
export interface Delivered {
  readonly kind: RecordKind;
  /** Of a record that has a detail of its own, which lists name by it. */
  readonly id?: string;
  /** The record itself, where lists can take it in. */
  readonly read?: Read<unknown>;
}

// Per kind. A list that is asked for less often than so many are delivered is read anew.
const mostRecords = 500;
const mostDetails = 20_000;
// Sets apart what happens within one millisecond: a double of today's milliseconds is exact to a quarter of it.
const tickMs = 1 / 1024;

/**
 * Records that the feeds of one key have delivered, and when: a response that was asked for before can lack them
 * (docs/behaviour.md 5.7). The time of asking decides, not that of the answer: upstream can have made a response before the
 * poll's that arrives after it.
 */
export class DeliveryLog {
  readonly #clock: Clock;
  readonly #latestMs = new Map<RecordKind, number>();
  readonly #recordsOf = new Map<RecordKind, { readonly atMs: number; readonly read: Read<unknown> }[]>();
  /** Records delivered up to then are no longer at hand, or never were. */
  readonly #droppedMs = new Map<RecordKind, number>();
  readonly #detailMs = new Map<string, number>();
  #droppedDetailMs = Number.NEGATIVE_INFINITY;
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Now, in milliseconds since 1970, and later than any time given before: the order counts within a millisecond too. */
  nextMs(): number {
    this.#nowMs = Math.max(this.#clock.now(), this.#nowMs + tickMs);
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

  /** Whether a response to `request` that was asked for then may lack what has been delivered since. */
  isLacking(askedAtMs: number, { kind, listedAs }: Pick<ReadRequest<unknown>, 'kind' | 'listedAs'>): boolean {
    const deliveredMs =
      listedAs === undefined
        ? (this.#latestMs.get(kind) ?? Number.NEGATIVE_INFINITY)
        : (this.#detailMs.get(listedAs) ?? this.#droppedDetailMs);
    // An instance of an earlier version shares no time of asking: NaN is not later than anything.
    return deliveredMs > Number.NEGATIVE_INFINITY && !(askedAtMs > deliveredMs);
  }

  /** Records delivered since then, oldest first; null where not all of them are at hand. */
  since(kind: RecordKind, askedAtMs: number): readonly Read<unknown>[] | null {
    if (!(askedAtMs > (this.#droppedMs.get(kind) ?? Number.NEGATIVE_INFINITY))) return null;
    return (this.#recordsOf.get(kind) ?? []).filter(({ atMs }) => atMs >= askedAtMs).map(({ read }) => read);
  }

  #addDetail(name: string, atMs: number): void {
    this.#detailMs.delete(name);
    this.#detailMs.set(name, atMs);
    for (const [oldest, oldestMs] of this.#detailMs) {
      if (this.#detailMs.size <= mostDetails) break;
      this.#detailMs.delete(oldest);
      this.#droppedDetailMs = oldestMs;
    }
  }
}

/** As lists name a record that has a detail of its own. */
export function detailName(kind: RecordKind, id: string): string {
  return `${kind} ${id}`;
}

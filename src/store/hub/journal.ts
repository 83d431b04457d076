import { LRUCache } from 'lru-cache';
import { asMoment, type Clock, plus } from '../../clock.js';
import { type Appended, type NewEntry, type ReadUpTo, type SharedEntry, slotMs } from '../batched-journal.js';
import type { SharedMs } from '../shared-time.js';

// Entries are retained singly for the minute of a rate limit, plus a margin for clocks and transit.
const reachMs = 65_000;
const mostEntries = 5_000;
// A day in slots of ten minutes, and one more, since a day touches 145 slots.
const slotsOfDay = 145;
// One journal per key. The least recently used one is evicted with its counts of today.
const mostJournals = 10_000;

/** The journals of all keys, for all workers. */
export class HubJournals {
  readonly #clock: Clock;
  readonly #journals = new LRUCache<string, HubJournal>({ max: mostJournals });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  append(name: string, writer: string, readUpTo: ReadUpTo, entries: readonly NewEntry[]): Appended {
    let journal = this.#journals.get(name);
    if (!journal) {
      journal = new HubJournal();
      this.#journals.set(name, journal);
    }
    return journal.append(writer, readUpTo, entries, asMoment(this.#clock.now()));
  }
}

interface LoggedEntry extends SharedEntry {
  readonly offset: number;
  readonly writer: string;
}

class HubJournal {
  #entries: LoggedEntry[] = [];
  #lastOffset = 0;
  readonly #counts = new Map<number, number>();
  #standing: (SharedEntry & { readonly untilMs: SharedMs }) | null = null;

  append(writer: string, readUpTo: ReadUpTo, newEntries: readonly NewEntry[], nowMs: SharedMs): Appended {
    this.#forget(nowMs);
    const readAtMs = Number(readUpTo.upToDateAtMs);
    const isNew = readUpTo.offset === '' || nowMs - readAtMs > reachMs || nowMs < readAtMs;
    const from = isNew ? 0 : Number(readUpTo.offset);
    const entries = this.#entries
      .filter((entry) => entry.offset > from && entry.writer !== writer)
      .map(({ atMs, text }) => ({ atMs, text }));
    const isUpToDate = !isNew && entries.length === 0;
    for (const entry of newEntries) if (isUpToDate || entry.isForced) this.#add(writer, entry, nowMs);
    // Summed up after adding, so that the added entries are not reported again.
    const { standing, counts } = isNew ? this.#summary() : nothing;
    return {
      isUpToDate,
      readUpTo: { offset: String(this.#lastOffset), upToDateAtMs: String(nowMs) },
      entries,
      counts,
      standing,
    };
  }

  #add(writer: string, { text, counts, standsMs }: NewEntry, nowMs: SharedMs): void {
    this.#entries.push({ offset: ++this.#lastOffset, writer, text, atMs: nowMs });
    if (counts > 0) {
      const slot = Math.floor(nowMs / slotMs);
      this.#counts.set(slot, (this.#counts.get(slot) ?? 0) + counts);
    }
    const untilMs = plus(nowMs, standsMs);
    if (standsMs > 0 && (this.#standing?.untilMs ?? 0) < untilMs) {
      this.#standing = { atMs: nowMs, text, untilMs };
    }
  }

  #summary(): Pick<Appended, 'standing' | 'counts'> {
    const standing = this.#standing && { atMs: this.#standing.atMs, text: this.#standing.text };
    return { standing, counts: Array.from(this.#counts, ([slot, count]) => ({ slot, count })) };
  }

  #forget(nowMs: SharedMs): void {
    const tooMany = this.#entries.length - mostEntries;
    const recent = this.#entries.findIndex(({ atMs }) => atMs >= nowMs - reachMs);
    const gone = Math.max(tooMany, recent === -1 ? this.#entries.length : recent);
    if (gone > 0) this.#entries = this.#entries.slice(gone);
    for (const slot of this.#counts.keys()) {
      if (slot < Math.floor(nowMs / slotMs) - slotsOfDay) this.#counts.delete(slot);
    }
    if (this.#standing && this.#standing.untilMs <= nowMs) this.#standing = null;
  }
}

const nothing: Pick<Appended, 'standing' | 'counts'> = { standing: null, counts: [] };

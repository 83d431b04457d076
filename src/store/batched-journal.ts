import { randomUUID } from 'node:crypto';
import { asMoment, minuteMs } from '../clock.js';
import type { SharedMs, SharedTime } from './shared-time.js';
import type { Entered, Journal, JournalCount, JournalEntry } from './store.js';

/** Stores a journal: in Redis, or in the primary of several workers. */
export interface JournalBackend {
  readonly isUp: boolean;
  readonly time: Pick<SharedTime, 'toLocalAtLatest'>;
  /**
   * Adds the forced entries, and the others too when the writer has read all entries before them.
   * @throws StoreUnavailable
   */
  append(writer: string, readUpTo: ReadUpTo, entries: readonly NewEntry[]): Promise<Appended>;
}

/** The position up to which a writer has read. */
export interface ReadUpTo {
  /** The last entry; empty for none. */
  readonly offset: string;
  /** The shared time at which no later entry existed. */
  readonly upToDateAtMs: string;
}

export interface NewEntry {
  readonly text: string;
  /** Number of sent requests that it stands for. */
  readonly counts: number;
  readonly standsMs: number;
  /** It is added even when the writer has not read all entries before. */
  readonly isForced: boolean;
}

export interface Appended {
  /** All earlier entries had been read, so every new entry was added. */
  readonly isUpToDate: boolean;
  readonly readUpTo: ReadUpTo;
  /** The unread entries of other writers. */
  readonly entries: readonly SharedEntry[];
  /** Only for a writer whose last read is older than single entries are retained. */
  readonly counts: readonly SlotCount[];
  readonly standing: SharedEntry | null;
}

export interface SharedEntry {
  readonly atMs: SharedMs;
  readonly text: string;
}

/** Requests sent within one slot of `slotMs`; slots are numbered from 1970. */
export interface SlotCount {
  readonly slot: number;
  readonly count: number;
}

export const slotMs = 10 * minuteMs;

/** An entry that waits to be written. */
interface Waiting {
  readonly entry: NewEntry;
  /** Number of entries read when it was requested; null for a forced entry. */
  readonly readCount: number | null;
  readonly resolve: (entered: Entered) => void;
}

/** Entries requested while a call is in flight go with the next one: a burst takes one or two calls. */
export class BatchedJournal implements Journal {
  readonly #backend: JournalBackend;
  // Not the instance's id: a journal that is opened again must read what the previous one wrote.
  readonly #writer = randomUUID();
  readonly #onEntry: ((entry: JournalEntry) => void)[] = [];
  readonly #onCount: ((counts: readonly JournalCount[]) => void)[] = [];
  #readUpTo: ReadUpTo = { offset: '', upToDateAtMs: '0' };
  #readCount = 0;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(backend: JournalBackend) {
    this.#backend = backend;
  }

  onEntry(listener: (entry: JournalEntry) => void): void {
    this.#onEntry.push(listener);
  }

  onCount(listener: (counts: readonly JournalCount[]) => void): void {
    this.#onCount.push(listener);
  }

  enter(text: string): Entered | Promise<Entered> {
    if (!this.#backend.isUp) return 'unshared';
    return new Promise((resolve) => {
      const entry = { text, counts: 1, standsMs: 0, isForced: false };
      this.#add({ entry, readCount: this.#readCount, resolve });
    });
  }

  async append(
    text: string,
    { counts = 0, standsMs = 0 }: { counts?: number; standsMs?: number } = {},
  ): Promise<boolean> {
    if (!this.#backend.isUp) return false;
    const entered = await new Promise<Entered>((resolve) => {
      const entry = { text, counts, standsMs: Math.ceil(standsMs), isForced: true };
      this.#add({ entry, readCount: null, resolve });
    });
    return entered !== 'unshared';
  }

  #add(one: Waiting): void {
    this.#waiting.push(one);
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    // Entries requested in the same microtask go together.
    await null;
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const done = await this.#append(batch).catch((): Entered => 'unshared');
      for (const one of batch) {
        const isLate = one.readCount !== null && one.readCount !== this.#readCount;
        // Nothing new was read after all, as with an empty journal: try again.
        if (done === 'behind' && !isLate && one.readCount !== null) this.#waiting.push(one);
        else one.resolve(done);
      }
    }
    this.#isWriting = false;
  }

  /** The waiting entries, without those that were requested before the latest entries were read. */
  #take(): readonly Waiting[] {
    const batch = this.#waiting;
    this.#waiting = [];
    return batch.filter(({ readCount, resolve }) => {
      const isLate = readCount !== null && readCount !== this.#readCount;
      if (isLate) resolve('behind');
      return !isLate;
    });
  }

  /** @throws StoreUnavailable */
  async #append(batch: readonly Waiting[]): Promise<Entered> {
    const newEntries = batch.map(({ entry }) => entry);
    const appended = await this.#backend.append(this.#writer, this.#readUpTo, newEntries);
    const { isUpToDate, readUpTo, entries, counts, standing } = appended;
    this.#readUpTo = readUpTo;
    if (standing) this.#deliver(standing);
    for (const entry of entries) this.#deliver(entry);
    this.#deliverCounts(counts);
    return isUpToDate ? 'entered' : 'behind';
  }

  #deliver({ atMs, text }: SharedEntry): void {
    const entry = { atMs: this.#backend.time.toLocalAtLatest(atMs), text };
    this.#readCount++;
    for (const listener of this.#onEntry) listener(entry);
  }

  #deliverCounts(slots: readonly SlotCount[]): void {
    if (slots.length === 0) return;
    const counts = slots.map(({ slot, count }) => {
      return { untilMs: this.#backend.time.toLocalAtLatest(asMoment((slot + 1) * slotMs)), count };
    });
    this.#readCount++;
    for (const listener of this.#onCount) listener(counts);
  }
}

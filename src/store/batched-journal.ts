import { randomUUID } from 'node:crypto';
import type { SharedTime } from './shared-time.js';
import type { Entered, Journal, JournalCount, JournalEntry } from './store.js';

/** Where a journal lies: in Redis, or with the primary of several workers. */
export interface JournalBackend {
  readonly isUp: boolean;
  readonly time: Pick<SharedTime, 'toLocalAtLatest'>;
  /**
   * Adds the entries that are added in any case, and the others too when the writer has heard of everything before.
   * @throws StoreAway
   */
  append(writer: string, heard: Heard, entries: readonly NewEntry[]): Promise<Appended>;
}

/** How far a writer has read. */
export interface Heard {
  /** The last entry; empty for none. */
  readonly offset: string;
  /** The shared time at which there was no later one. */
  readonly upToDateAtMs: string;
}

export interface NewEntry {
  readonly text: string;
  /** For how many requests that have been sent. */
  readonly counts: number;
  readonly standsMs: number;
  /** It is added in any case. */
  readonly isForced: boolean;
}

export interface Appended {
  /** Everything before had been heard, so that all was added. */
  readonly isUpToDate: boolean;
  readonly heard: Heard;
  /** What others had added, with its shared time. */
  readonly entries: readonly SharedEntry[];
  /** For a writer that has heard nothing for longer than entries are told one by one. */
  readonly counts: readonly SlotCount[];
  readonly standing: SharedEntry | null;
}

export interface SharedEntry {
  readonly atMs: number;
  readonly text: string;
}

/** Requests that were sent within the ten minutes of this number since 1970. */
export interface SlotCount {
  readonly slot: number;
  readonly count: number;
}

export const slotMs = 600_000;

/** One that waits to be written. */
interface Waiting {
  readonly entry: NewEntry;
  /** How much had been heard when it was asked for; null where it is added in any case. */
  readonly heardCount: number | null;
  readonly resolve: (entered: Entered) => void;
}

/** What comes while a call is on its way goes with the next: a burst is one call or two. */
export class BatchedJournal implements Journal {
  readonly #backend: JournalBackend;
  // Not that of the instance: a journal that is opened anew has to hear what the one before it wrote.
  readonly #writer = randomUUID();
  readonly #onEntry: ((entry: JournalEntry) => void)[] = [];
  readonly #onCount: ((counts: readonly JournalCount[]) => void)[] = [];
  #heard: Heard = { offset: '', upToDateAtMs: '0' };
  #heardCount = 0;
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
    if (!this.#backend.isUp) return 'alone';
    return new Promise((resolve) => {
      const entry = { text, counts: 1, standsMs: 0, isForced: false };
      this.#add({ entry, heardCount: this.#heardCount, resolve });
    });
  }

  async tell(
    text: string,
    { counts = 0, standsMs = 0 }: { counts?: number; standsMs?: number } = {},
  ): Promise<boolean> {
    if (!this.#backend.isUp) return false;
    const entered = await new Promise<Entered>((resolve) => {
      const entry = { text, counts, standsMs: Math.ceil(standsMs), isForced: true };
      this.#add({ entry, heardCount: null, resolve });
    });
    return entered !== 'alone';
  }

  #add(one: Waiting): void {
    this.#waiting.push(one);
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    // Those that are asked for in the same turn go together.
    await null;
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const done = await this.#append(batch).catch((): Entered => 'alone');
      for (const one of batch) {
        const isLate = one.heardCount !== null && one.heardCount !== this.#heardCount;
        // Nothing was new to it after all, as when the journal is empty.
        if (done === 'unheard' && !isLate && one.heardCount !== null) this.#waiting.push(one);
        else one.resolve(done);
      }
    }
    this.#isWriting = false;
  }

  /** All that wait, but for those whose asker does not know yet what has been heard since. */
  #take(): readonly Waiting[] {
    const batch = this.#waiting;
    this.#waiting = [];
    return batch.filter(({ heardCount, resolve }) => {
      const isLate = heardCount !== null && heardCount !== this.#heardCount;
      if (isLate) resolve('unheard');
      return !isLate;
    });
  }

  /** @throws StoreAway */
  async #append(batch: readonly Waiting[]): Promise<Entered> {
    const newEntries = batch.map(({ entry }) => entry);
    const appended = await this.#backend.append(this.#writer, this.#heard, newEntries);
    const { isUpToDate, heard, entries, counts, standing } = appended;
    this.#heard = heard;
    if (standing) this.#hear(standing);
    for (const entry of entries) this.#hear(entry);
    this.#hearCounts(counts);
    return isUpToDate ? 'entered' : 'unheard';
  }

  #hear({ atMs, text }: SharedEntry): void {
    const entry = { atMs: this.#backend.time.toLocalAtLatest(atMs), text };
    this.#heardCount++;
    for (const listener of this.#onEntry) listener(entry);
  }

  #hearCounts(slots: readonly SlotCount[]): void {
    if (slots.length === 0) return;
    const counts = slots.map(({ slot, count }) => {
      return { untilMs: this.#backend.time.toLocalAtLatest((slot + 1) * slotMs), count };
    });
    this.#heardCount++;
    for (const listener of this.#onCount) listener(counts);
  }
}

import { randomUUID } from 'node:crypto';
import { addScript } from './redis-journal-script.js';
import type { RedisLink } from './redis-link.js';
import type { Entered, Journal, JournalCount, JournalEntry } from './store.js';

/** One that waits to be written. */
interface Waiting {
  readonly text: string;
  readonly counts: number;
  readonly standsMs: number;
  /** How much had been heard when it was asked for; null where it is added in any case. */
  readonly heardCount: number | null;
  readonly resolve: (entered: Entered) => void;
}

/** A journal in a Redis stream. What comes while a call is on its way goes with the next: a burst is one call or two. */
export class RedisJournal implements Journal {
  readonly #link: RedisLink;
  readonly #keys: readonly string[];
  // Not that of the instance: a journal that is opened anew has to hear what the one before it wrote.
  readonly #writer = randomUUID();
  readonly #onEntry: ((entry: JournalEntry) => void)[] = [];
  readonly #onCount: ((counts: readonly JournalCount[]) => void)[] = [];
  /** The last entry that was heard, and the shared time at which there was no later one. */
  #lastId = '';
  #upToDateAtMs = '0';
  #heardCount = 0;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    this.#keys = ['journal', 'sent', 'standing'].map((part) => link.key(name, part));
  }

  onEntry(listener: (entry: JournalEntry) => void): void {
    this.#onEntry.push(listener);
  }

  onCount(listener: (counts: readonly JournalCount[]) => void): void {
    this.#onCount.push(listener);
  }

  enter(text: string): Entered | Promise<Entered> {
    if (!this.#link.isUp) return 'alone';
    return new Promise((resolve) => {
      this.#add({ text, counts: 1, standsMs: 0, heardCount: this.#heardCount, resolve });
    });
  }

  async tell(
    text: string,
    { counts = 0, standsMs = 0 }: { counts?: number; standsMs?: number } = {},
  ): Promise<boolean> {
    if (!this.#link.isUp) return false;
    const entered = await new Promise<Entered>((resolve) => {
      this.#add({ text, counts, standsMs, heardCount: null, resolve });
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
      const done = await this.#run(batch).catch((): Entered => 'alone');
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
  async #run(batch: readonly Waiting[]): Promise<Entered> {
    const answer = await this.#link.run(addScript, this.#keys, [
      this.#writer,
      this.#lastId,
      this.#upToDateAtMs,
      ...batch.flatMap(({ text, counts, standsMs, heardCount }) => [
        text,
        counts,
        Math.ceil(standsMs),
        heardCount === null ? 1 : 0,
      ]),
    ]);
    const [entered, lastId, nowMs, entries, counts, standing] = answer as [
      number,
      Buffer,
      Buffer,
      Buffer[],
      Buffer[],
      Buffer[],
    ];
    this.#lastId = String(lastId);
    this.#upToDateAtMs = String(nowMs);
    for (const list of [standing, entries]) this.#hear(list);
    this.#hearCounts(counts);
    return entered === 1 ? 'entered' : 'unheard';
  }

  /** Of time and text by turns. */
  #hear(list: readonly Buffer[]): void {
    for (let at = 0; at < list.length; at += 2) {
      const entry = {
        atMs: this.#link.time.toLocalAtLatest(Number(list[at])),
        text: String(list[at + 1]),
      };
      this.#heardCount++;
      for (const listener of this.#onEntry) listener(entry);
    }
  }

  /** Of the number of a slot and the count of it by turns. */
  #hearCounts(list: readonly Buffer[]): void {
    if (list.length === 0) return;
    const counts: JournalCount[] = [];
    for (let at = 0; at < list.length; at += 2) {
      const untilMs = this.#link.time.toLocalAtLatest((Number(list[at]) + 1) * slotMs);
      counts.push({ untilMs, count: Number(list[at + 1]) });
    }
    this.#heardCount++;
    for (const listener of this.#onCount) listener(counts);
  }
}

// As in the script.
const slotMs = 600_000;

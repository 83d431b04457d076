import { asMoment } from '../../clock.js';
import {
  type Appended,
  BatchedJournal,
  type JournalBackend,
  type NewEntry,
  type ReadUpTo,
} from '../batched-journal.js';
import type { Journal } from '../store.js';
import { appendScript } from './journal-script.js';
import type { RedisLink } from './link.js';

/** A journal in a Redis stream. */
export function redisJournal(link: RedisLink, name: string): Journal {
  return new BatchedJournal(new RedisJournalBackend(link, name));
}

class RedisJournalBackend implements JournalBackend {
  readonly #link: RedisLink;
  readonly #keys: readonly string[];

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    this.#keys = ['journal', 'sent', 'standing'].map((part) => link.key(name, part));
  }

  get isUp() {
    return this.#link.isUp;
  }

  get time() {
    return this.#link.time;
  }

  async append(
    writer: string,
    { offset, upToDateAtMs }: ReadUpTo,
    newEntries: readonly NewEntry[],
  ): Promise<Appended> {
    const answer = await this.#link.run(appendScript, this.#keys, [
      writer,
      offset,
      upToDateAtMs,
      ...newEntries.flatMap(({ text, counts, standsMs, isForced }) => [
        text,
        counts,
        standsMs,
        isForced ? 1 : 0,
      ]),
    ]);
    const [isUpToDate, last, nowMs, entries, counts, standing] = answer as [
      number,
      Buffer,
      Buffer,
      Buffer[],
      Buffer[],
      Buffer[],
    ];
    const entriesOf = (list: readonly Buffer[]) =>
      inPairs(list).map(([atMs, text]) => ({
        atMs: asMoment<'shared clock in ms'>(Number(atMs)),
        text: String(text),
      }));
    return {
      isUpToDate: isUpToDate === 1,
      readUpTo: { offset: String(last), upToDateAtMs: String(nowMs) },
      entries: entriesOf(entries),
      counts: inPairs(counts).map(([slot, count]) => ({ slot: Number(slot), count: Number(count) })),
      standing: entriesOf(standing)[0] ?? null,
    };
  }
}

function inPairs<T>(list: readonly T[]): readonly (readonly [T | undefined, T | undefined])[] {
  return Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at], list[2 * at + 1]]);
}

import { type ForwardMs, longAgo, type UnixMs } from '../../clock.js';
import type { SharedMs } from '../../store/shared-time.js';
import type { SharedChanges } from '../../store/store.js';
import type { Subject } from '../tracking/change.js';
import type { ExchangedSnapshot } from '../tracking/change-appender.js';
import type { PollProgress } from './publisher.js';
import { parseText, textOf } from './record-text.js';

export interface ObservedRecord<Rec> {
  readonly record: Rec;
  readonly observedAtMs: ForwardMs;
  /** An instance appended it while partitioned, so it may be older than what others know. */
  readonly isLate: boolean;
}

interface PackedRecord extends Omit<ObservedRecord<unknown>, 'observedAtMs'> {
  readonly observedAtMs: SharedMs;
}

/** Encodes the entries of one feed's replicated log. Only instances write them, so decoding trusts their shape. */
export class LogEntries<Rec> {
  readonly #subject: Pick<Subject<Rec, string>, 'pack' | 'unpack'>;
  readonly #time: SharedChanges['time'];

  constructor(subject: Pick<Subject<Rec, string>, 'pack' | 'unpack'>, time: SharedChanges['time']) {
    this.#subject = subject;
    this.#time = time;
  }

  ofChange({ record, observedAtMs, isLate }: ObservedRecord<Rec>): string {
    return textOf({
      isLate,
      record: this.#subject.pack(record, this.#time),
      observedAtMs: this.#time.toShared(observedAtMs),
    });
  }

  /** Null for a record that cannot be read. */
  changeOf(text: string): ObservedRecord<Rec> | null {
    try {
      const { record, observedAtMs, isLate } = parseText(text) as PackedRecord;
      const unpacked = this.#subject.unpack(record, this.#time);
      return unpacked && { record: unpacked, observedAtMs: this.#time.toLocal(observedAtMs), isLate };
    } catch {
      return null;
    }
  }

  ofState({ records, completeFromMs, upstreamMs }: ExchangedSnapshot<Rec>): string {
    return textOf({
      records: records.map(({ record, traits }) => ({
        record: this.#subject.pack(record, this.#time),
        traits,
      })),
      completeFromMs,
      upstreamMs,
    });
  }

  stateOf(text: string): ExchangedSnapshot<Rec> {
    const { records, completeFromMs, upstreamMs } = parseText(text) as {
      records: readonly { record: unknown; traits: unknown }[];
      completeFromMs: UnixMs | null;
      upstreamMs: UnixMs | null;
    };
    return {
      records: records.flatMap(({ record, traits }) => {
        const unpacked = this.#subject.unpack(record, this.#time);
        return unpacked ? [{ record: unpacked, traits }] : [];
      }),
      completeFromMs: completeFromMs ?? always,
      upstreamMs: upstreamMs ?? always,
    };
  }

  ofProgress({ readAtMs, upstreamMs }: PollProgress): string {
    return textOf([this.#time.toShared(readAtMs), upstreamMs]);
  }

  progressOf(text: string): PollProgress {
    const [readAtMs, upstreamMs] = parseText(text) as [SharedMs, UnixMs | null];
    return { readAtMs: this.#time.toLocal(readAtMs), upstreamMs: upstreamMs ?? always };
  }
}

// JSON has no infinite numbers: it writes null for them.
const always = longAgo;

import type { Clock } from '../../clock.js';
import type { ReadScope } from '../../upstream/read/read.js';
import type { Subject } from '../tracking/change.js';
import { type ChangeDetector, isAwaited } from '../tracking/change-detector.js';
import type { PendingResumes } from '../tracking/pending-resumes.js';
import { instantAt, type ListReader } from './list-reader.js';

export interface SweepAndBackfillOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly reader: ListReader<Rec>;
  readonly detector: ChangeDetector<Rec, Kind>;
  readonly resumes: PendingResumes<Rec, Kind>;
  readonly clock: Clock;
  readonly lookbackMs: number;
  /** Whether it is for this instance to sweep; false when another does. */
  readonly isItsTurn: () => boolean;
  readonly reads: (signal: AbortSignal, priority: 'feed' | 'background') => ReadScope;
  /** More is known now, or no more will be. */
  readonly onRead: (isTooMuch: boolean) => void;
}

export const dayMs = 86_400_000;
// docs/behaviour.md 9.2.
const sweepEveryMs = 5 * 60_000;
const sweepRetryMs = 60_000;
// What is read for those who resume from long ago is kept for others who come with them.
const keepBackfillMs = 10 * 60_000;
// Some 100 MB. A resume that would need more has expired.
const mostKnown = 100_000;

/** What a feed reads between its polls, one request at a time: for those who resume, and for what comes late. */
export class SweepAndBackfill<Rec, Kind extends string> {
  readonly #options: SweepAndBackfillOptions<Rec, Kind>;
  #steps: AsyncGenerator<void> | null = null;
  #isBackfill = false;
  #sweepAtMs = 0;
  #backfilledAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SweepAndBackfillOptions<Rec, Kind>) {
    this.#options = options;
  }

  /** After the first read: the sweep follows at once where that one did not reach back a day. */
  begin(): void {
    const { detector, clock } = this.#options;
    const isShort = detector.coveredFromMs > detector.watermark.ms - dayMs;
    this.#sweepAtMs = clock.now() + (isShort ? 0 : sweepEveryMs);
  }

  reset(): void {
    this.#steps = null;
    this.#backfilledAtMs = Number.NEGATIVE_INFINITY;
  }

  /** One request's worth; false when there is nothing to do. */
  async step(signal: AbortSignal): Promise<boolean> {
    const isWanted = this.#options.resumes.size > 0;
    // A sweep gives way to those who wait, and nothing is read for those who have left.
    if (this.#steps && this.#isBackfill !== isWanted) this.#drop();
    this.#steps ??= this.#next(signal);
    if (!this.#steps) return false;
    try {
      const { done } = await this.#steps.next();
      if (done) this.#steps = null;
    } catch (error) {
      this.#steps = null;
      this.#sweepAtMs = this.#options.clock.now() + sweepRetryMs;
      throw error;
    }
    return true;
  }

  #drop(): void {
    this.#steps = null;
    if (!this.#isBackfill) this.#sweepAtMs = this.#options.clock.now();
  }

  #next(signal: AbortSignal): AsyncGenerator<void> | null {
    const { resumes, detector, clock } = this.#options;
    this.#isBackfill = resumes.wantedFromMs < detector.coveredFromMs;
    if (this.#isBackfill) return this.#backfill(resumes.wantedFromMs, signal);
    return clock.now() >= this.#sweepAtMs ? this.#sweep(signal) : null;
  }

  /** What lies between where resuming subscribers left off and what is known. */
  async *#backfill(fromMs: number, signal: AbortSignal): AsyncGenerator<void> {
    const { reader, reads, detector, clock, onRead } = this.#options;
    const range = { from: instantAt(fromMs), to: instantAt(detector.coveredFromMs) };
    for await (const page of reader.pages(range, reads(signal, 'feed'))) {
      if (signal.aborted) return;
      await detector.observe(page);
      if (detector.snapshot.size > mostKnown) break;
      yield;
    }
    const isTooMuch = detector.snapshot.size > mostKnown;
    if (!isTooMuch) detector.cover(fromMs);
    this.#backfilledAtMs = clock.now();
    onRead(isTooMuch);
  }

  /** docs/behaviour.md 9.2: the last day again, for what came late, and what has been open for longer, each by itself. */
  async *#sweep(signal: AbortSignal): AsyncGenerator<void> {
    const { subject, reader, reads, detector, clock, lookbackMs, isItsTurn } = this.#options;
    const { snapshot, watermark: time, coveredFromMs } = detector;
    const scope = reads(signal, 'background');
    const fromMs = time.ms - dayMs;
    if (!isItsTurn()) {
      this.#sweepAtMs = clock.now() + sweepEveryMs;
      this.#forget(fromMs);
      return;
    }
    // At least up to what is known already, or what lies between would later pass for news.
    const knownFromMs = Number.isFinite(coveredFromMs) ? coveredFromMs : Number.NEGATIVE_INFINITY;
    const toMs = Math.max(time.ms - lookbackMs, knownFromMs);
    this.#sweepAtMs = clock.now() + sweepEveryMs;
    if (Number.isFinite(fromMs) && toMs > fromMs) {
      const range = { from: instantAt(fromMs), to: instantAt(toMs) };
      for await (const page of reader.pages(range, scope)) {
        if (signal.aborted) return;
        await detector.observe(page);
        yield;
      }
      detector.cover(fromMs);
    }
    for (const known of snapshot.ordered.slice(0, snapshot.indexOf(fromMs)).filter(isAwaited)) {
      const record = await reader.again(known.state.record, scope);
      if (signal.aborted) return;
      if (record) await detector.observe([record]);
      else if (snapshot.get(subject.idOf(known.state.record)) === known) known.missing++;
      yield;
    }
    this.#forget(fromMs);
  }

  #forget(dayAgoMs: number): void {
    const { detector, clock } = this.#options;
    if (clock.now() - this.#backfilledAtMs < keepBackfillMs || !Number.isFinite(dayAgoMs)) return;
    const surplus = detector.snapshot.ordered[detector.snapshot.size - mostKnown];
    detector.forgetBefore(Math.max(dayAgoMs, surplus?.state.timeMs ?? dayAgoMs));
  }
}

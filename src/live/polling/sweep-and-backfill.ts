import {
  type Clock,
  dayMs,
  type ForwardMs,
  latest,
  longAgo,
  minuteMs,
  plus,
  type UnixMs,
} from '../../clock.js';
import type { ReadScope } from '../../upstream/read/read.js';
import type { Subject } from '../tracking/change.js';
import { type ChangeDetector, isAwaited } from '../tracking/change-detector.js';
import type { PendingResumes } from '../tracking/replay/pending-resumes.js';
import { instantAt, type ListReader } from './list-reader.js';

export interface SweepAndBackfillOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly reader: ListReader<Rec>;
  readonly detector: ChangeDetector<Rec, Kind>;
  readonly resumes: PendingResumes<Rec, Kind>;
  readonly clock: Clock;
  readonly lookbackMs: number;
  /** False while another instance sweeps. */
  readonly isLeader: () => boolean;
  readonly reads: (signal: AbortSignal, priority: 'feed' | 'background') => ReadScope;
  /** Resolves when the changes among the records have been appended. */
  readonly observe: (records: readonly Rec[]) => void | Promise<void>;
  /** A backfill has ended; `isTooMuch` when it was given up, and no more will be read. */
  readonly onRead: (isTooMuch: boolean) => void;
}

// docs/behaviour.md 9.2.
const sweepEveryMs = 5 * minuteMs;
const sweepRetryMs = minuteMs;
// A backfill stays in the snapshot for further subscribers that resume from as long ago.
const keepBackfillMs = 10 * minuteMs;
// Records, some 100 MB. A resume that would need more has expired.
const mostKnown = 100_000;

/** Reads between polls, one request at a time: backfills for resuming subscribers, and sweeps for late records. */
export class SweepAndBackfill<Rec, Kind extends string> {
  readonly #options: SweepAndBackfillOptions<Rec, Kind>;
  #steps: AsyncGenerator<void> | null = null;
  #isBackfill = false;
  #sweepAtMs: ForwardMs = longAgo;
  #backfilledAtMs: ForwardMs = longAgo;

  constructor(options: SweepAndBackfillOptions<Rec, Kind>) {
    this.#options = options;
  }

  /** Call after the baseline read. The first sweep follows at once when that did not reach back a day. */
  begin(): void {
    const { detector, clock } = this.#options;
    const isShort = detector.completeFromMs > detector.watermark.ms - dayMs;
    this.#sweepAtMs = plus(clock.now(), isShort ? 0 : sweepEveryMs);
  }

  reset(): void {
    this.#steps = null;
    this.#backfilledAtMs = longAgo;
  }

  /** Reads at most one page; false when there is nothing to do. */
  async step(signal: AbortSignal): Promise<boolean> {
    const isWanted = this.#options.resumes.size > 0;
    // A sweep gives way to waiting subscribers, and a backfill stops when all of them have left.
    if (this.#steps && this.#isBackfill !== isWanted) this.#drop();
    this.#steps ??= this.#next(signal);
    if (!this.#steps) return false;
    try {
      const { done } = await this.#steps.next();
      if (done) this.#steps = null;
    } catch (error) {
      this.#steps = null;
      this.#sweepAtMs = plus(this.#options.clock.now(), sweepRetryMs);
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
    this.#isBackfill = resumes.wantedFromMs < detector.completeFromMs;
    if (this.#isBackfill) return this.#backfill(resumes.wantedFromMs, signal);
    return clock.now() >= this.#sweepAtMs ? this.#sweep(signal) : null;
  }

  /** Reads the range between the oldest waiting cursor and the records that are known. */
  async *#backfill(fromMs: UnixMs, signal: AbortSignal): AsyncGenerator<void> {
    const { reader, reads, detector, observe, clock, onRead } = this.#options;
    const range = { from: instantAt(fromMs), to: instantAt(detector.completeFromMs) };
    for await (const page of reader.pages(range, reads(signal, 'feed'))) {
      if (signal.aborted) return;
      await observe(page.records);
      if (detector.snapshot.size > mostKnown) break;
      yield;
    }
    const isTooMuch = detector.snapshot.size > mostKnown;
    if (!isTooMuch) detector.extendTo(fromMs);
    this.#backfilledAtMs = clock.now();
    onRead(isTooMuch);
  }

  /** docs/behaviour.md 9.2: reads the last day again for late arrivals, and records open for longer one by one. */
  async *#sweep(signal: AbortSignal): AsyncGenerator<void> {
    const { subject, reader, reads, detector, observe, clock, lookbackMs, isLeader } = this.#options;
    const { snapshot, watermark, completeFromMs } = detector;
    const scope = reads(signal, 'background');
    const fromMs = plus(watermark.ms, -dayMs);
    if (!isLeader()) {
      this.#sweepAtMs = plus(clock.now(), sweepEveryMs);
      this.#forget(fromMs);
      return;
    }
    // At least up to the complete range: records in a gap between the two would later look new.
    const knownFromMs = Number.isFinite(completeFromMs) ? completeFromMs : longAgo;
    const toMs = latest(plus(watermark.ms, -lookbackMs), knownFromMs);
    this.#sweepAtMs = plus(clock.now(), sweepEveryMs);
    if (Number.isFinite(fromMs) && toMs > fromMs) {
      const range = { from: instantAt(fromMs), to: instantAt(toMs) };
      for await (const page of reader.pages(range, scope)) {
        if (signal.aborted) return;
        await observe(page.records);
        yield;
      }
      detector.extendTo(fromMs);
    }
    for (const known of snapshot.ordered.slice(0, snapshot.indexOf(fromMs)).filter(isAwaited)) {
      const record = await reader.again(known.state.record, scope);
      if (signal.aborted) return;
      if (record === 'gone') {
        if (snapshot.get(subject.idOf(known.state.record)) === known) known.missing++;
      } else if (record !== 'unreadable') await observe([record]);
      yield;
    }
    this.#forget(fromMs);
  }

  #forget(dayAgoMs: UnixMs): void {
    const { detector, clock } = this.#options;
    if (clock.now() - this.#backfilledAtMs < keepBackfillMs || !Number.isFinite(dayAgoMs)) return;
    const surplus = detector.snapshot.ordered[detector.snapshot.size - mostKnown];
    detector.forgetBefore(latest(dayAgoMs, surplus?.state.timeMs ?? dayAgoMs));
  }
}

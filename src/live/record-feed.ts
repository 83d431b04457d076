import type { Clock, Timer } from '../clock.js';
import { CursorExpired, Forbidden, type GatewayError } from '../errors.js';
import type { Log } from '../log.js';
import { newCostMeter, type Priority, type ReadScope } from '../upstream/read.js';
import type { Change, Subject } from './change.js';
import { ChangeLog } from './change-log.js';
import { decodePosition, type Position } from './cursor.js';
import type { Feed, FeedStatus, Listener, Listening } from './feed.js';
import { feedStatus } from './feed-status.js';
import { Memory } from './memory.js';
import { Poller } from './poller.js';
import { Positions } from './positions.js';
import { instantAt, type Reader } from './reading.js';
import { UpstreamTime } from './upstream-time.js';
import { planWindow } from './window.js';

export interface RecordFeedOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly reader: Reader<Rec>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Cursors of another scope are not taken: another key's, for example. */
  readonly scope: string;
  readonly lookbackMs: number;
  /** Between two polls that took `requests` each. */
  readonly intervalMs: (feed: PollState<Rec, Kind>) => number;
}

export interface PollState<Rec, Kind extends string> {
  readonly memory: Memory<Rec, Kind>;
  /** How late it is upstream. */
  readonly upstreamMs: number;
  /** That the last poll took. */
  readonly requests: number;
}

const dayMs = 86_400_000;
// contract 9.2.
const sweepEveryMs = 5 * 60_000;
const sweepRetryMs = 60_000;
// contract 9.4.
const longestResumeMs = 7 * dayMs;
// What is read for those who resume from long ago is kept for others who come with them.
const keepBackfillMs = 10 * 60_000;
/** Records that are remembered at most: some 100 MB. A resume that would need more has expired. */
const mostKnown = 100_000;

/**
 * Turns a list that can only be polled into changes, each once: a look-back window at every poll, a day at every sweep,
 * and a memory of all that either can show again (contract 9.1–9.4).
 */
export class RecordFeed<Rec, Kind extends string> implements Feed<Change<Rec, Kind>> {
  readonly log: ChangeLog<Change<Rec, Kind>>;
  readonly #options: RecordFeedOptions<Rec, Kind>;
  readonly #memory: Memory<Rec, Kind>;
  readonly #positions: Positions<Rec, Kind>;
  readonly #scope: string;
  readonly #time = new UpstreamTime();
  readonly #poller: Poller;
  readonly #listeners = new Set<Listener<Change<Rec, Kind>>>();
  readonly #resumes = new Map<Listener<Change<Rec, Kind>>, Resume>();
  /** Records before this time were there before the feed: they are learnt and not announced. */
  #coveredFromMs = Number.POSITIVE_INFINITY;
  #hasBaseline = false;
  #startedAtMs = 0;
  #requests = 1;
  #sweepAtMs = 0;
  #steps: AsyncGenerator<void> | null = null;
  #stepsAreBackfill = false;
  #backfilledAtMs = Number.NEGATIVE_INFINITY;
  #linger: Timer | null = null;

  constructor(options: RecordFeedOptions<Rec, Kind>) {
    const { subject, clock, random, log } = options;
    this.#options = options;
    this.#scope = `${subject.name} ${options.scope}`;
    this.log = new ChangeLog(clock);
    this.#memory = new Memory(subject);
    this.#positions = new Positions({
      subject,
      memory: this.#memory,
      scope: this.#scope,
      run: newRun(random),
      lookbackMs: options.lookbackMs,
    });
    this.#poller = new Poller({
      clock,
      random,
      poll: (signal) => this.#poll(signal),
      idle: (signal) => this.#step(signal),
      intervalMs: () => this.#intervalMs(),
      onFailure: (error, failures) => {
        log.warn({ feed: subject.name, failures, error: codeOf(error) }, 'A poll failed; it is tried again');
        if (error instanceof Forbidden && !this.#hasBaseline) this.close(error);
      },
    });
  }

  isFolded(change: Change<Rec, Kind>): boolean {
    return this.#options.subject.isFolded(change.kind);
  }

  check(after: string): void {
    decodePosition(this.#scope, after);
  }

  listen(after: string | null, listener: Listener<Change<Rec, Kind>>): Listening {
    const resume = after === null ? null : { cursor: after, position: decodePosition(this.#scope, after) };
    this.#listeners.add(listener);
    this.#start();
    const { first, next } = this.log;
    const logged = resume?.position.logged;
    if (!resume) {
      listener.begin({ replay: [], from: next, liveFrom: next });
    } else if (logged && logged.run === this.#positions.run && logged.seq + 1 >= first) {
      listener.begin({ replay: [], from: Math.min(logged.seq + 1, next), liveFrom: next });
    } else {
      this.#resumes.set(listener, resume);
      this.#answerResumes();
      if (this.#hasBaseline && this.#resumes.size === 1) this.#poller.wake();
    }
    return { leave: () => this.#leave(listener) };
  }

  status(): FeedStatus {
    return feedStatus({
      name: this.#options.subject.name,
      poller: this.#poller,
      subscriberCount: this.#listeners.size,
      intervalMs: this.#intervalMs(),
      nowMs: this.#options.clock.now(),
    });
  }

  close(error: GatewayError | null): void {
    this.#stop();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener.end(error);
  }

  #start(): void {
    this.#linger?.cancel();
    this.#linger = null;
    if (this.#poller.isActive) return;
    this.#startedAtMs = this.#options.clock.now();
    this.#poller.start();
  }

  #leave(listener: Listener<Change<Rec, Kind>>): void {
    this.#resumes.delete(listener);
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    // Whoever reloads a page is back before the next poll and finds the log as it was.
    this.#linger = this.#options.clock.timer(this.#intervalMs(), () => this.#stop());
  }

  #stop(): void {
    this.#linger?.cancel();
    this.#linger = null;
    this.#poller.stop();
    this.log.clear();
    this.#memory.clear();
    this.#time.reset();
    this.#resumes.clear();
    this.#positions.renew(newRun(this.#options.random));
    this.#coveredFromMs = Number.POSITIVE_INFINITY;
    this.#hasBaseline = false;
    this.#steps = null;
    this.#backfilledAtMs = Number.NEGATIVE_INFINITY;
  }

  #intervalMs(): number {
    return this.#options.intervalMs({
      memory: this.#memory,
      upstreamMs: this.#time.ms,
      requests: this.#requests,
    });
  }

  #reads(signal: AbortSignal, priority: Priority): ReadScope {
    return { signal, priority, turn: {}, meter: newCostMeter(), maxAgeMs: 0 };
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const scope = this.#reads(signal, 'feed');
    if (this.#hasBaseline) await this.#readWindow(scope);
    else await this.#readBaseline(scope);
    this.#requests = Math.max(1, scope.meter.requests);
    if (!signal.aborted) this.#answerResumes();
  }

  async #readBaseline(scope: ReadScope): Promise<void> {
    const { records, isAll } = await this.#options.reader.newest(scope);
    if (scope.signal.aborted) return;
    const nowMs = this.#options.clock.now();
    const states = records.map((record) => this.#memory.stateOf(record, null));
    const times = states.map(({ timeMs }) => timeMs);
    // What started after the first listener came, and before this answer, is news to it. By whose clock? Only if no
    // record claims to be from the future do the two clocks agree well enough to say.
    const clocksAgree = times.every((timeMs) => timeMs <= nowMs);
    this.#coveredFromMs = clocksAgree ? this.#startedAtMs : Number.POSITIVE_INFINITY;
    this.#observe(records);
    // The last of a full page may have companions of the same moment behind it.
    this.#coveredFromMs = isAll ? Number.NEGATIVE_INFINITY : Math.min(...times) + 0.001;
    this.#time.confirm(nowMs, 0);
    this.#hasBaseline = true;
    this.#sweepAtMs = this.#coveredFromMs > this.#time.ms - dayMs ? nowMs : nowMs + sweepEveryMs;
  }

  async #readWindow(scope: ReadScope): Promise<void> {
    const { reader, clock, lookbackMs } = this.#options;
    const startedAtMs = clock.now();
    const plan = planWindow(this.#memory, {
      upstreamMs: this.#time.ms,
      lookbackMs,
      longestMs: dayMs,
      pageSize: reader.pageSize,
    });
    const seen = new Set<string>();
    for await (const page of reader.pages({ from: instantAt(plan.fromMs), to: null }, scope)) {
      if (scope.signal.aborted) return;
      for (const record of page) seen.add(this.#options.subject.idOf(record));
      this.#observe(page);
    }
    for (const known of plan.apart) await this.#lookAgain(known.state.record, scope);
    if (scope.signal.aborted) return;
    this.#countMissing(plan.fromMs, seen);
    this.#coveredFromMs = Math.min(this.#coveredFromMs, plan.fromMs);
    this.#time.confirm(startedAtMs, 2 * this.#intervalMs());
  }

  #observe(records: readonly Rec[]): void {
    const nowMs = this.#options.clock.now();
    const states = records.map((record) => {
      const known = this.#memory.get(this.#options.subject.idOf(record));
      return { known, state: this.#memory.stateOf(record, known?.state ?? null) };
    });
    states.sort((a, b) => a.state.timeMs - b.state.timeMs);
    for (const { known, state } of states) {
      this.#time.saw(state.timeMs, nowMs);
      if (!known) {
        const learnt = this.#memory.learn(state, nowMs);
        if (state.timeMs >= this.#coveredFromMs) learnt.announced = this.#append(learnt, false);
        continue;
      }
      known.missing = 0;
      if (known.state.isFinal) continue;
      const isSame = known.state.fingerprint === state.fingerprint;
      this.#memory.update(known, state);
      if (!isSame) this.#append(known, true);
    }
  }

  #append(known: ReturnType<Memory<Rec, Kind>['learn']>, wasKnown: boolean): number {
    const { record, traits, isFinal } = known.state;
    const seq = this.log.next;
    const change: Change<Rec, Kind> = {
      kind: this.#options.subject.kindOf(record, wasKnown),
      record,
      traits,
      observedAtMs: this.#options.clock.now(),
      cursor: () => this.#positions.cursorAt(seq, this.#coveredFromMs),
    };
    if (isFinal) known.ended = seq;
    // Listeners of the log must find the memory as of this change.
    if (!wasKnown) known.announced = seq;
    known.last = this.log.append(change, known.last);
    return seq;
  }

  /** A record that is still open and does not come any more has gone: it does not hold the window open for ever. */
  #countMissing(fromMs: number, seen: ReadonlySet<string>): void {
    const { ordered } = this.#memory;
    for (let i = this.#memory.indexOf(fromMs); i < ordered.length; i++) {
      const known = ordered[i];
      if (known?.state.isOpen && !seen.has(known.id)) known.missing++;
    }
  }

  async #lookAgain(record: Rec, scope: ReadScope): Promise<void> {
    const again = await this.#options.reader.again(record, scope);
    if (scope.signal.aborted) return;
    if (again) this.#observe([again]);
    else {
      const known = this.#memory.get(this.#options.subject.idOf(record));
      if (known) known.missing++;
    }
  }

  /** One request's worth of what can wait: first what those who resume are waiting for. */
  async #step(signal: AbortSignal): Promise<boolean> {
    // A sweep gives way to those who wait, and nothing is read for those who have left.
    if (this.#steps && this.#stepsAreBackfill === (this.#resumes.size === 0)) this.#dropSteps();
    this.#steps ??= this.#nextSteps(signal);
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

  #dropSteps(): void {
    this.#steps = null;
    if (!this.#stepsAreBackfill) this.#sweepAtMs = this.#options.clock.now();
  }

  #nextSteps(signal: AbortSignal): AsyncGenerator<void> | null {
    const wantedMs = this.#wantedFromMs();
    this.#stepsAreBackfill = wantedMs < this.#coveredFromMs;
    if (this.#stepsAreBackfill) return this.#backfill(wantedMs, signal);
    return this.#options.clock.now() >= this.#sweepAtMs ? this.#sweep(signal) : null;
  }

  #wantedFromMs(): number {
    return Math.min(
      Number.POSITIVE_INFINITY,
      ...[...this.#resumes.values()].map(({ position }) => earliestOf(position)),
    );
  }

  /** Reads what lies between where resuming subscribers left off and what is known. */
  async *#backfill(fromMs: number, signal: AbortSignal): AsyncGenerator<void> {
    const scope = this.#reads(signal, 'feed');
    const toMs = this.#coveredFromMs;
    for await (const page of this.#options.reader.pages(
      { from: instantAt(fromMs), to: instantAt(toMs) },
      scope,
    )) {
      if (signal.aborted) return;
      this.#observe(page);
      if (this.#memory.size > mostKnown) break;
      yield;
    }
    const isWhole = this.#memory.size <= mostKnown;
    if (isWhole) this.#coveredFromMs = Math.min(this.#coveredFromMs, fromMs);
    this.#backfilledAtMs = this.#options.clock.now();
    this.#answerResumes(!isWhole);
  }

  /** contract 9.2: the last day again, for what came late, and what has been open for longer, each by itself. */
  async *#sweep(signal: AbortSignal): AsyncGenerator<void> {
    const { reader, clock, lookbackMs } = this.#options;
    const scope = this.#reads(signal, 'background');
    const fromMs = this.#time.ms - dayMs;
    // At least up to what is known already, or what lies between would later pass for news.
    const knownFromMs = Number.isFinite(this.#coveredFromMs) ? this.#coveredFromMs : Number.NEGATIVE_INFINITY;
    const toMs = Math.max(this.#time.ms - lookbackMs, knownFromMs);
    this.#sweepAtMs = clock.now() + sweepEveryMs;
    if (Number.isFinite(fromMs) && toMs > fromMs) {
      for await (const page of reader.pages({ from: instantAt(fromMs), to: instantAt(toMs) }, scope)) {
        if (signal.aborted) return;
        this.#observe(page);
        yield;
      }
      this.#coveredFromMs = Math.min(this.#coveredFromMs, fromMs);
    }
    const before = this.#memory.ordered.slice(0, this.#memory.indexOf(fromMs));
    for (const { state } of before.filter((known) => known.state.isOpen && known.missing < 3)) {
      await this.#lookAgain(state.record, scope);
      if (signal.aborted) return;
      yield;
    }
    this.#forget(fromMs);
  }

  #forget(dayAgoMs: number): void {
    const surplus = this.#memory.ordered[this.#memory.size - mostKnown];
    const fromMs = Math.max(dayAgoMs, surplus?.state.timeMs ?? dayAgoMs);
    const isNeeded = this.#options.clock.now() - this.#backfilledAtMs < keepBackfillMs;
    if (isNeeded || !Number.isFinite(fromMs)) return;
    this.#memory.forgetBefore(fromMs, ({ state, missing }) => state.isOpen && missing < 3);
    this.#coveredFromMs = Math.max(this.#coveredFromMs, fromMs);
  }

  /** Tells those who resume where to begin, as far as what is known reaches back far enough. */
  #answerResumes(isTooMuch = false): void {
    if (!this.#hasBaseline) return;
    for (const [listener, { cursor, position }] of this.#resumes) {
      const isExpired = position.timeMs < this.#time.ms - longestResumeMs;
      const isCovered = earliestOf(position) >= this.#coveredFromMs;
      if (!isExpired && !isCovered && !isTooMuch) continue;
      this.#resumes.delete(listener);
      if (isCovered && !isExpired) {
        const replay = this.#positions.replayFrom(cursor, position, this.log.next, this.#coveredFromMs);
        listener.begin({ replay, from: this.log.next, liveFrom: this.log.next });
      } else {
        this.#listeners.delete(listener);
        listener.end(new CursorExpired(expired, { argument: 'after' }));
      }
    }
  }
}

const expired =
  'Too much has happened since this cursor to go on from it without loss: list what you need, and subscribe afresh';

interface Resume {
  readonly cursor: string;
  readonly position: Position;
}

/** How far back upstream has to be read to tell what has happened since. */
function earliestOf({ timeMs, horizonMs, oldestOpenMs }: Position): number {
  return Math.max(timeMs - longestResumeMs, Math.min(horizonMs, oldestOpenMs));
}

// Never 0, which stands for a position that is in no log.
const newRun = (random: () => number) => 1 + Math.floor(random() * (2 ** 32 - 2));

const codeOf = (error: unknown) => (error instanceof Error ? error.name : String(error));

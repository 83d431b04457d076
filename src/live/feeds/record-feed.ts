import type { Clock } from '../../clock.js';
import { Forbidden, type GatewayError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { SharedChanges } from '../../store/store.js';
import { newCostMeter, type Priority, type ReadScope } from '../../upstream/read/read.js';
import { ownRelay, type Relay } from '../cluster/publisher.js';
import { SharedRelay } from '../cluster/replicated-publisher.js';
import { Audience } from '../delivery/subscribers.js';
import { instantAt, type Reader } from '../polling/list-reader.js';
import { planWindow } from '../polling/look-back-window.js';
import { Poller } from '../polling/poller.js';
import { Chores, dayMs } from '../polling/sweep-and-backfill.js';
import { positionBeside, type RecordList } from '../tracking/beside-list.js';
import type { Change, Subject } from '../tracking/change.js';
import { Ledger } from '../tracking/change-detector.js';
import { decodePosition, encodePosition } from '../tracking/cursor.js';
import { type Resume, Resumes } from '../tracking/pending-resumes.js';
import { type Known, Memory } from '../tracking/snapshot.js';
import type { Feed, FeedStatus, Listener, Listening } from './feed.js';
import { feedStatus } from './feed-status.js';

export interface RecordFeedOptions<Rec, Kind extends string> {
  readonly subject: Subject<Rec, Kind>;
  readonly reader: Reader<Rec>;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Cursors of another scope are not taken: another key's, for example. */
  readonly scope: string;
  /** What instances of the gateway tell each other of this feed; null where there is one. */
  readonly changes: SharedChanges | null;
  readonly lookbackMs: number;
  /** A window is extended as long as it has no more rows than this: they cost nothing on a page that is read anyway. */
  readonly spareRows: number;
  /** Adds what a change should have besides, before it is told. Never fails. */
  readonly complete?: (records: readonly Rec[], scope: ReadScope) => Promise<readonly Rec[]>;
  /** Sees to it that no answer from now on lacks a record that is about to be delivered. */
  readonly onDelivering: (record: Rec) => void;
  /** From the start of one poll to the start of the next. */
  readonly intervalMs: (state: PollState<Rec, Kind>) => number;
}

export interface PollState<Rec, Kind extends string> {
  readonly memory: Memory<Rec, Kind>;
  /** How late it is upstream. */
  readonly upstreamMs: number;
  /** That the last poll took. */
  readonly requests: number;
}

/**
 * Turns a list that can only be polled into changes, each once: a look-back window at every poll, a day at every sweep,
 * and a memory of all that either can show again (docs/behaviour.md 9.1–9.4).
 */
export class RecordFeed<Rec, Kind extends string> implements Feed<Change<Rec, Kind>> {
  readonly #options: RecordFeedOptions<Rec, Kind>;
  readonly #scope: string;
  readonly #ledger: Ledger<Rec, Kind>;
  readonly #relay: Relay<Rec>;
  readonly #resumes = new Resumes<Rec, Kind>();
  readonly #chores: Chores<Rec, Kind>;
  readonly #audience: Audience<Change<Rec, Kind>>;
  readonly #poller: Poller;
  #requests = 1;

  constructor(options: RecordFeedOptions<Rec, Kind>) {
    const { subject, reader, changes, clock, random, lookbackMs, onDelivering } = options;
    this.#options = options;
    this.#scope = `${subject.name} ${subject.source} ${options.scope}`;
    const publish = (news: readonly Rec[]) => this.#relay.publish(news);
    this.#ledger = new Ledger({ subject, clock, scope: this.#scope, publish, onDelivering });
    const isItsTurn = () => this.#relay.isPolling;
    this.#chores = new Chores({
      subject,
      reader,
      ledger: this.#ledger,
      resumes: this.#resumes,
      clock,
      lookbackMs,
      isItsTurn,
      reads: readsOf,
      onRead: (isTooMuch) => this.#answerResumes(isTooMuch),
    });
    this.#poller = new Poller({
      clock,
      random,
      poll: (signal) => this.#poll(signal),
      isItsTurn,
      idle: (signal) => this.#chores.step(signal),
      intervalMs: () => this.#intervalMs(),
      onFailure: (error, failures) => this.#failed(error, failures),
    });
    this.#audience = new Audience({
      clock,
      lingerMs: () => this.#intervalMs(),
      onFirst: () => this.#start(),
      onLeft: (listener) => this.#resumes.leave(listener),
      onEmpty: () => this.#stop(),
    });
    this.#relay = changes
      ? new SharedRelay({
          subject,
          changes,
          ledger: this.#ledger,
          clock,
          log: options.log,
          readAtMs: () => this.#poller.history.lastSuccessAtMs,
          onTurn: () => this.#poller.wake(),
          onBaseline: () => this.#knowsBaseline(),
        })
      : ownRelay(this.#ledger);
  }

  get log() {
    return this.#ledger.log;
  }

  isFolded(change: Change<Rec, Kind>): boolean {
    return this.#options.subject.isFolded(change.kind);
  }

  check(after: string): void {
    decodePosition(this.#scope, after);
  }

  listen(after: string | null, listener: Listener<Change<Rec, Kind>>): Listening {
    const listening = this.#audience.enter(listener);
    const resume = after === null ? null : { cursor: after, position: decodePosition(this.#scope, after) };
    const waiting = this.#relay.upTo(resume?.position.logged ?? null);
    if (!waiting) this.#place(listener, resume);
    else void waiting.then(() => this.#audience.has(listener) && this.#place(listener, resume));
    return listening;
  }

  #place(listener: Listener<Change<Rec, Kind>>, resume: Resume | null): void {
    const { first, next } = this.log;
    const logged = resume?.position.logged;
    const following = logged ? this.#ledger.numbering.following(logged) : null;
    if (!resume) {
      listener.begin({ replay: [], from: next, liveFrom: next });
    } else if (following !== null && following >= first && following <= next) {
      listener.begin({ replay: [], from: following, liveFrom: next });
    } else {
      this.#resumes.wait(listener, resume);
      this.#answerResumes(false);
      if (this.#ledger.hasBaseline && this.#resumes.size === 1) this.#poller.wake();
    }
  }

  /**
   * The cursor at which `list` leaves off, for a subscription that goes on from it. While nobody listens, that takes one
   * read of what is there.
   */
  async cursorBeside(list: RecordList<Rec>, scope: ReadScope): Promise<string> {
    const { subject, reader, clock } = this.#options;
    const newest = this.#ledger.hasBaseline ? null : await reader.newest({ ...scope, maxAgeMs: freshForMs });
    const { idOf } = subject;
    const shared = {
      nowMs: clock.now(),
      idOf,
      stateOf: (record: Rec) => this.#ledger.memory.stateOf(record, null),
    };
    if (this.#ledger.hasBaseline || !newest) {
      const { memory, coveredFromMs } = this.#ledger;
      await this.#ledger.observe(this.#ledger.fresherOf(list.records));
      // What was read is as of some time before it had arrived.
      const isLater = ({ announced, seenAtMs }: Known<Rec, Kind>) =>
        announced > 0 && seenAtMs > list.readAtMs - longestReadMs;
      return encodePosition(this.#scope, positionBeside(list, { ...shared, memory, coveredFromMs, isLater }));
    }
    const memory = new Memory<Rec, Kind>(subject);
    for (const record of [...newest.records, ...list.records]) {
      if (!memory.get(idOf(record))) memory.learn(memory.stateOf(record, null), clock.now());
    }
    const newestMs = memory.ordered.at(-1)?.state.timeMs ?? Number.NEGATIVE_INFINITY;
    const clocksAgree = newestMs <= clock.now();
    const isLater = ({ state }: Known<Rec, Kind>) => clocksAgree && state.timeMs >= list.readAtMs;
    const { coversFromMs: coveredFromMs } = newest;
    return encodePosition(this.#scope, positionBeside(list, { ...shared, memory, coveredFromMs, isLater }));
  }

  status(): FeedStatus {
    return feedStatus({
      name: this.#options.subject.name,
      poller: this.#poller,
      readElsewhereAtMs: this.#relay.pulse?.readAtMs ?? null,
      subscriberCount: this.#audience.size,
      intervalMs: this.#intervalMs(),
      nowMs: this.#options.clock.now(),
    });
  }

  close(error: GatewayError | null): void {
    this.#audience.sendHome(error);
  }

  #start(): void {
    this.#relay.start();
    this.#poller.start();
  }

  #stop(): void {
    this.#poller.stop();
    this.#relay.stop();
    this.#resumes.clear();
    this.#chores.reset();
    this.#ledger.reset();
  }

  #failed(error: unknown, failures: number): void {
    const { subject, log } = this.#options;
    const name = error instanceof Error ? error.name : String(error);
    log.warn({ feed: subject.name, failures, error: name }, 'A poll failed; it is tried again');
    // What was never allowed will not be; what was, may have been refused by something on the way.
    if (error instanceof Forbidden && !this.#ledger.hasBaseline) this.close(error);
  }

  #intervalMs(): number {
    const { memory, time } = this.#ledger;
    return this.#options.intervalMs({ memory, upstreamMs: time.ms, requests: this.#requests });
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const scope = readsOf(signal, 'feed');
    if (this.#ledger.hasBaseline) await this.#readWindow(scope);
    else await this.#readBaseline(scope);
    this.#requests = Math.max(1, scope.meter.requests);
    if (!signal.aborted) this.#answerResumes(false);
  }

  async #readBaseline(scope: ReadScope): Promise<void> {
    const { records, coversFromMs } = await this.#options.reader.newest(scope);
    if (scope.signal.aborted) return;
    await this.#ledger.begin(records, this.#poller.history.startedAtMs, coversFromMs);
    this.#chores.begin();
  }

  #knowsBaseline(): void {
    this.#chores.begin();
    this.#answerResumes(false);
  }

  async #readWindow(scope: ReadScope): Promise<void> {
    const { subject, reader, clock, lookbackMs, spareRows } = this.#options;
    const ledger = this.#ledger;
    const startedAtMs = clock.now();
    const plan = planWindow(ledger.memory, {
      upstreamMs: ledger.time.ms,
      lookbackMs,
      longestMs: dayMs,
      pageSize: reader.pageSize,
      spareRows,
    });
    const seen = new Set<string>();
    for await (const page of reader.pages({ from: instantAt(plan.fromMs), to: null }, scope)) {
      if (scope.signal.aborted) return;
      for (const record of page) seen.add(subject.idOf(record));
      await ledger.observe(await this.#completed(page, scope));
    }
    for (const known of plan.apart) {
      const record = await reader.again(known.state.record, scope);
      if (scope.signal.aborted) return;
      if (record) await ledger.observe([record]);
      else known.missing++;
    }
    if (scope.signal.aborted) return;
    ledger.countMissing(plan.fromMs, seen);
    ledger.cover(plan.fromMs);
    ledger.time.confirm(startedAtMs, 2 * this.#intervalMs());
  }

  async #completed(page: readonly Rec[], scope: ReadScope): Promise<readonly Rec[]> {
    const { complete } = this.#options;
    const news = complete ? this.#ledger.newsAmong(page) : [];
    if (!complete || news.length === 0) return page;
    const others = page.filter((record) => !news.includes(record));
    return [...others, ...(await complete(news, scope))];
  }

  #answerResumes(isTooMuch: boolean): void {
    if (!this.#ledger.hasBaseline) return;
    const expire = (listener: Listener<Change<Rec, Kind>>, error: GatewayError) =>
      this.#audience.dismiss(listener, error);
    this.#resumes.answer(this.#ledger, expire, isTooMuch);
  }
}

// docs/behaviour.md 5.6, and how long an answer can have been on its way.
const freshForMs = 2_000;
const longestReadMs = 10_000;

// A poll asks upstream, whatever is in the cache (docs/behaviour.md 9.1).
function readsOf(signal: AbortSignal, priority: Priority): ReadScope {
  return { signal, priority, turn: {}, meter: newCostMeter(), maxAgeMs: 0 };
}

import type { IncomingHttpHeaders } from 'node:http';
import { type Clock, type ForwardMs, ManualClock, plus } from '../../src/clock.js';
import { GatewayError } from '../../src/errors.js';
import { unsharedStore } from '../../src/store/memory.js';
import type { Entered, Journal, JournalCount, JournalEntry, Store } from '../../src/store/store.js';
import type { RateLimitSettings } from '../../src/upstream/rate-limit/limiter.js';
import { RateLimit } from '../../src/upstream/rate-limit/rate-limit.js';
import type { Priority } from '../../src/upstream/read/read.js';
import type { RequestControl } from '../../src/upstream/resilience/coalesced-request.js';

/** An account that instances share, as a store would keep it. */
class Account {
  readonly entries: { readonly writer: object; readonly text: string; readonly atMs: ForwardMs }[] = [];
  readonly counts: { readonly atMs: ForwardMs; readonly count: number }[] = [];
  standing: { readonly text: string; readonly atMs: ForwardMs; readonly untilMs: number } | null = null;
}

/** One instance's way to it. */
class ModelLink {
  isUp = true;
  instances: number;
  readonly clock: Clock;
  /** There or back. */
  latencyMs: number;
  readonly #listeners = new Set<() => void>();
  readonly account: Account;
  readonly real: ManualClock;

  constructor(real: ManualClock, account: Account, { aheadMs, latencyMs, instances }: InstanceOptions) {
    this.real = real;
    this.account = account;
    this.latencyMs = latencyMs;
    this.instances = instances;
    this.clock = {
      now: () => plus(real.now(), aheadMs),
      wallMs: (atMs = plus(real.now(), aheadMs)) => real.wallMs(plus(atMs, -aheadMs)),
      timer: (delayMs, run) => real.timer(delayMs, run),
      sleep: (delayMs, signal) => real.sleep(delayMs, signal),
    };
  }

  setUp(isUp: boolean): void {
    this.isUp = isUp;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

// Entries from further back are reported as counts only.
const reachMs = 65_000;

class ModelJournal implements Journal {
  readonly #link: ModelLink;
  readonly #onEntry: ((entry: JournalEntry) => void)[] = [];
  readonly #onCount: ((counts: readonly JournalCount[]) => void)[] = [];
  #readUpTo = 0;
  #upToDateAtMs = Number.NEGATIVE_INFINITY;
  #reported = 0;

  constructor(link: ModelLink) {
    this.#link = link;
  }

  onEntry(listener: (entry: JournalEntry) => void): void {
    this.#onEntry.push(listener);
  }

  onCount(listener: (counts: readonly JournalCount[]) => void): void {
    this.#onCount.push(listener);
  }

  enter(text: string): Entered | Promise<Entered> {
    if (!this.#link.isUp) return 'unshared';
    const reported = this.#reported;
    return this.#next(() => {
      if (this.#catchUp() || reported !== this.#reported) return 'behind';
      this.#add(text, 1);
      return 'entered';
    });
  }

  async append(text: string, { counts = 0, standsMs = 0 } = {}): Promise<boolean> {
    if (!this.#link.isUp) return false;
    const entered = await this.#next(() => {
      this.#add(text, counts);
      const atMs = this.#link.real.now();
      const { account } = this.#link;
      if (standsMs > 0 && (account.standing?.untilMs ?? 0) < atMs + standsMs)
        account.standing = { text, atMs, untilMs: atMs + standsMs };
      this.#catchUp();
      return 'entered';
    });
    return entered !== 'unshared';
  }

  async #next(run: () => Entered): Promise<Entered> {
    const { real, latencyMs } = this.#link;
    await real.sleep(latencyMs);
    const entered = this.#link.isUp ? run() : 'unshared';
    await real.sleep(latencyMs);
    return entered;
  }

  #add(text: string, count: number): void {
    const { account, real } = this.#link;
    account.entries.push({ writer: this, text, atMs: real.now() });
    account.counts.push({ atMs: real.now(), count });
  }

  /** True where there was something new. */
  #catchUp(): boolean {
    const { account, clock, real } = this.#link;
    const aheadMs = clock.now() - real.now();
    const before = this.#reported;
    const report = (text: string, atMs: ForwardMs) => {
      this.#reported++;
      for (const listener of this.#onEntry) listener({ text, atMs: plus(atMs, aheadMs) });
    };
    const isNew = this.#upToDateAtMs < real.now() - reachMs;
    const { standing } = account;
    if (isNew && standing && standing.untilMs > real.now()) report(standing.text, standing.atMs);
    const unread = account.entries.slice(this.#readUpTo).filter(({ atMs }) => atMs > real.now() - reachMs);
    for (const { writer, text, atMs } of unread) if (writer !== this) report(text, atMs);
    this.#readUpTo = account.entries.length;
    this.#upToDateAtMs = real.now();
    if (isNew && account.counts.length > 0) {
      this.#reported++;
      const counts = account.counts.map(({ atMs, count }) => ({ untilMs: plus(atMs, aheadMs), count }));
      for (const listener of this.#onCount) listener(counts);
    }
    return this.#reported > before;
  }
}

interface InstanceOptions {
  readonly aheadMs: number;
  readonly latencyMs: number;
  readonly instances: number;
}

/** How upstream takes a request: how long it is on its way there and back, and what it says. */
export interface Upstream {
  readonly onTheWayMs: number;
  readonly backMs: number;
  readonly answer: () => { readonly status: number; readonly headers: IncomingHttpHeaders };
}

export interface Sent {
  readonly instance: number;
  readonly priority: Priority;
  readonly atMs: number;
  readonly countedAtMs: number;
}

/** Instances that share one key's budget, in time that the test drives; their own clocks need not agree. */
export function modelInstances(
  rateLimit: RateLimitSettings,
  options: readonly Omit<InstanceOptions, 'instances'>[],
  {
    source = 'PROJECT' as 'PROJECT' | 'CATALOGUE',
    /** For a query; no call of `ask` waits longer. */
    maxWaitMs = 5_000,
  } = {},
) {
  const real = new ManualClock(Date.UTC(2026, 0, 1));
  const account = new Account();
  const sent: Sent[] = [];
  const refused: { readonly instance: number; readonly atMs: number }[] = [];
  const add = (one: Omit<InstanceOptions, 'instances'>) => {
    const link = new ModelLink(real, account, { ...one, instances: options.length });
    const store: Store = {
      ...unsharedStore,
      connection: link,
      get instances() {
        return link.instances;
      },
      journal: () => new ModelJournal(link),
    };
    const { clock } = link;
    return {
      link,
      rateLimit: new RateLimit({ source, name: 'key', store, clock, rateLimit: rateLimit, maxWaitMs }),
    };
  };
  const instances = options.map(add);
  const upstream: Upstream = {
    onTheWayMs: 20,
    backMs: 20,
    answer: () => ({ status: 200, headers: {} }),
  };
  async function ask(
    instance: number,
    priority: Priority,
    leftMs = Number.POSITIVE_INFINITY,
    { onTheWayMs, backMs, answer }: Upstream = upstream,
  ): Promise<void> {
    const control: RequestControl = {
      signal: new AbortController().signal,
      priority,
      operationKey: {},
      maxWaitMs: undefined,
      queued: undefined,
      waitedMs: 0,
    };
    const send = async () => {
      const atMs = real.now();
      await real.sleep(onTheWayMs);
      sent.push({ instance, priority, atMs, countedAtMs: real.now() });
      const said = answer();
      await real.sleep(backMs);
      return said;
    };
    try {
      const permit = await instances[instance]?.rateLimit.permit(control, leftMs);
      permit?.ended(await send());
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refused.push({ instance, atMs: real.now() });
    }
  }
  return {
    real,
    account,
    instances,
    sent,
    refused,
    upstream,
    ask,
    /** One more, that knows of nothing yet. */
    join(one: Omit<InstanceOptions, 'instances'>): number {
      return instances.push(add(one)) - 1;
    },
  };
}

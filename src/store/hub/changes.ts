import type { Clock } from '../../clock.js';
import {
  type Attached,
  goneAfterMs,
  type Heartbeat,
  leaseMs,
  type Place,
  type SharedChange,
} from '../store.js';

// As many as one instance keeps by itself (docs/behaviour.md 9.4).
const mostChanges = 50_000;

/** The change logs of all feeds, for all workers. That of a feed is forgotten when its last listener has left. */
export class HubChanges {
  readonly #clock: Clock;
  readonly #logs = new Map<string, HubLog>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param owner the worker that listens */
  attach(owner: object, name: string, own: Place | null): Attached | null {
    return this.#log(name).attach(owner, own);
  }

  begin(name: string, run: number, base: string): boolean {
    return this.#log(name).begin(run, base);
  }

  publish(owner: object, name: string, run: number, texts: readonly string[]): number | null {
    return this.#logs.get(name)?.publish(owner, run, texts) ?? null;
  }

  readAfter(name: string, place: Place): readonly SharedChange[] | null {
    return this.#logs.get(name)?.readAfter(place) ?? null;
  }

  rebase(name: string, place: Place, base: string): void {
    this.#logs.get(name)?.rebase(place, base);
  }

  beat(owner: object, name: string, pulse: string | null): Heartbeat {
    return this.#log(name).beat(owner, pulse);
  }

  leave(owner: object, name: string): void {
    const log = this.#logs.get(name);
    log?.leave(owner);
    if (log?.isAbandoned) this.#logs.delete(name);
  }

  /** The worker is gone without a goodbye: another can poll at once. Its listeners may come back to the others. */
  lose(owner: object): void {
    for (const log of this.#logs.values()) log.freeLease(owner);
    this.#forgetAbandoned();
  }

  #forgetAbandoned(): void {
    for (const [name, log] of this.#logs) if (log.isAbandoned) this.#logs.delete(name);
  }

  #log(name: string): HubLog {
    let log = this.#logs.get(name);
    if (!log) {
      this.#forgetAbandoned();
      log = new HubLog(this.#clock);
      this.#logs.set(name, log);
    }
    return log;
  }
}

/** The replicated log of one feed. */
class HubLog {
  readonly #clock: Clock;
  #run: number | null = null;
  #base: { readonly seq: number; readonly text: string } = { seq: 0, text: '' };
  #changes: SharedChange[] = [];
  #last = 0;
  /** When each was last heard of. */
  readonly #listeners = new Map<object, number>();
  #lease: { readonly owner: object; untilMs: number } | null = null;
  #pulse: string | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isAbandoned(): boolean {
    this.#forgetGone();
    return this.#listeners.size === 0;
  }

  attach(owner: object, own: Place | null): Attached | null {
    this.#listen(owner);
    if (this.#run !== null && this.#run === own?.run) {
      const changes = this.#after(own.seq);
      if (changes) return { run: this.#run, base: null, changes };
    }
    if (this.#run !== null && this.#listeners.size > 1) {
      const changes = this.#after(this.#base.seq);
      if (changes) return { run: this.#run, base: this.#base, changes };
    }
    // Nobody else listens, or nobody could follow: whoever listened before is told afresh what it may have missed.
    this.#run = null;
    this.#changes = [];
    this.#pulse = null;
    return null;
  }

  begin(run: number, text: string): boolean {
    if (this.#run !== null) return false;
    this.#run = run;
    this.#base = { seq: 0, text };
    this.#changes = [];
    this.#last = 0;
    return true;
  }

  publish(owner: object, run: number, texts: readonly string[]): number | null {
    if (run !== this.#run) return null;
    this.#keepLease(owner);
    for (const text of texts) this.#changes.push({ seq: ++this.#last, text });
    // Seldom, since it moves all others.
    if (this.#changes.length > 1.1 * mostChanges) this.#changes = this.#changes.slice(-mostChanges);
    return this.#last;
  }

  readAfter({ run, seq }: Place): readonly SharedChange[] | null {
    return run === this.#run ? this.#after(seq) : null;
  }

  rebase({ run, seq }: Place, text: string): void {
    if (run === this.#run) this.#base = { seq, text };
  }

  beat(owner: object, pulse: string | null): Heartbeat {
    this.#listen(owner);
    if (this.#lease === null || this.#lease.untilMs <= this.#clock.now()) {
      this.#lease = { owner, untilMs: 0 };
    }
    const isPolling = this.#keepLease(owner);
    if (isPolling && pulse !== null) this.#pulse = pulse;
    const last = this.#run === null ? null : { run: this.#run, seq: this.#last };
    return { isPolling, last, pulse: this.#pulse };
  }

  leave(owner: object): void {
    this.#listeners.delete(owner);
    this.freeLease(owner);
  }

  freeLease(owner: object): void {
    if (this.#lease?.owner === owner) this.#lease = null;
  }

  /** False where it is another's. */
  #keepLease(owner: object): boolean {
    if (this.#lease?.owner !== owner) return false;
    this.#lease.untilMs = this.#clock.now() + leaseMs;
    return true;
  }

  #listen(owner: object): void {
    this.#forgetGone();
    this.#listeners.set(owner, this.#clock.now());
  }

  #forgetGone(): void {
    const nowMs = this.#clock.now();
    for (const [one, heardAtMs] of this.#listeners) {
      if (heardAtMs <= nowMs - goneAfterMs) this.#listeners.delete(one);
    }
  }

  /** Null where what comes next is not there any more. */
  #after(seq: number): readonly SharedChange[] | null {
    const count = this.#last - seq;
    if (count < 0 || count > this.#changes.length) return null;
    return this.#changes.slice(this.#changes.length - count);
  }
}

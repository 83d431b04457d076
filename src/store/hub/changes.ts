import type { Clock } from '../../clock.js';
import {
  type Attached,
  goneAfterMs,
  type Heartbeat,
  leaseMs,
  type Place,
  type SharedChange,
} from '../store.js';

// The same bound as in the log of one instance (docs/behaviour.md 9.4).
const mostChanges = 50_000;

/** The replicated logs of all feeds, for all workers. A log is removed when its last listener has left. */
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

  /**
   * The worker was lost: frees its lease at once, but keeps its log, since its clients may reconnect to other workers.
   */
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
  #epoch: number | null = null;
  #snapshot: { readonly seq: number; readonly text: string } = { seq: 0, text: '' };
  #changes: SharedChange[] = [];
  #last = 0;
  /** Time of the last heartbeat by listener. */
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
    if (this.#epoch !== null && this.#epoch === own?.run) {
      const changes = this.#after(own.seq);
      if (changes) return { run: this.#epoch, base: null, changes };
    }
    if (this.#epoch !== null && this.#listeners.size > 1) {
      const changes = this.#after(this.#snapshot.seq);
      if (changes) return { run: this.#epoch, base: this.#snapshot, changes };
    }
    // No other instance listens, or the log has a gap: end the epoch. The next one begins with a snapshot to resync
    // from.
    this.#epoch = null;
    this.#changes = [];
    this.#pulse = null;
    return null;
  }

  begin(run: number, text: string): boolean {
    if (this.#epoch !== null) return false;
    this.#epoch = run;
    this.#snapshot = { seq: 0, text };
    this.#changes = [];
    this.#last = 0;
    return true;
  }

  publish(owner: object, run: number, texts: readonly string[]): number | null {
    if (run !== this.#epoch) return null;
    this.#keepLease(owner);
    for (const text of texts) this.#changes.push({ seq: ++this.#last, text });
    // Trimmed seldom, since that copies the array.
    if (this.#changes.length > 1.1 * mostChanges) this.#changes = this.#changes.slice(-mostChanges);
    return this.#last;
  }

  readAfter({ run, seq }: Place): readonly SharedChange[] | null {
    return run === this.#epoch ? this.#after(seq) : null;
  }

  rebase({ run, seq }: Place, text: string): void {
    if (run === this.#epoch) this.#snapshot = { seq, text };
  }

  beat(owner: object, pulse: string | null): Heartbeat {
    this.#listen(owner);
    if (this.#lease === null || this.#lease.untilMs <= this.#clock.now()) {
      this.#lease = { owner, untilMs: 0 };
    }
    const isPolling = this.#keepLease(owner);
    if (isPolling && pulse !== null) this.#pulse = pulse;
    const last = this.#epoch === null ? null : { run: this.#epoch, seq: this.#last };
    return { isPolling, last, pulse: this.#pulse };
  }

  leave(owner: object): void {
    this.#listeners.delete(owner);
    this.freeLease(owner);
  }

  freeLease(owner: object): void {
    if (this.#lease?.owner === owner) this.#lease = null;
  }

  /** False when another worker holds the lease. */
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
    for (const [one, heartbeatAtMs] of this.#listeners) {
      if (heartbeatAtMs <= nowMs - goneAfterMs) this.#listeners.delete(one);
    }
  }

  /** Null when the next change has been discarded. */
  #after(seq: number): readonly SharedChange[] | null {
    const count = this.#last - seq;
    if (count < 0 || count > this.#changes.length) return null;
    return this.#changes.slice(this.#changes.length - count);
  }
}

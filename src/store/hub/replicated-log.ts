import { type Clock, type ForwardMs, longAgo, plus } from '../../clock.js';
import { limits } from '../../limits.js';
import {
  type Attached,
  goneAfterMs,
  type Heartbeat,
  type LogOffset,
  leaseMs,
  type SharedChange,
} from '../store.js';

/** The replicated logs of all feeds, for all workers. A log is removed when its last listener has left. */
export class HubChanges {
  readonly #clock: Clock;
  readonly #logs = new Map<string, HubLog>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param owner the worker that listens */
  attach(owner: object, name: string, own: LogOffset | null): Attached | null {
    return this.#log(name).attach(owner, own);
  }

  begin(name: string, epoch: number, snapshot: string): boolean {
    return this.#log(name).begin(epoch, snapshot);
  }

  append(owner: object, name: string, epoch: number, texts: readonly string[]): number | null {
    return this.#logs.get(name)?.append(owner, epoch, texts) ?? null;
  }

  readAfter(name: string, after: LogOffset): readonly SharedChange[] | null {
    return this.#logs.get(name)?.readAfter(after) ?? null;
  }

  replaceSnapshot(name: string, at: LogOffset, snapshot: string): void {
    this.#logs.get(name)?.replaceSnapshot(at, snapshot);
  }

  heartbeat(owner: object, name: string, progress: string | null): Heartbeat {
    return this.#log(name).heartbeat(owner, progress);
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
    this.#removeAbandoned();
  }

  #removeAbandoned(): void {
    for (const [name, log] of this.#logs) if (log.isAbandoned) this.#logs.delete(name);
  }

  #log(name: string): HubLog {
    let log = this.#logs.get(name);
    if (!log) {
      this.#removeAbandoned();
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
  #snapshot: { readonly offset: number; readonly text: string } = { offset: 0, text: '' };
  #changes: SharedChange[] = [];
  #last = 0;
  /** Time of the last heartbeat by listener. */
  readonly #listeners = new Map<object, ForwardMs>();
  #lease: { readonly owner: object; untilMs: ForwardMs } | null = null;
  #progress: string | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isAbandoned(): boolean {
    this.#removeGone();
    return this.#listeners.size === 0;
  }

  attach(owner: object, own: LogOffset | null): Attached | null {
    this.#listen(owner);
    if (this.#epoch !== null && this.#epoch === own?.epoch) {
      const changes = this.#after(own.offset);
      if (changes) return { epoch: this.#epoch, snapshot: null, changes };
    }
    if (this.#epoch !== null && this.#listeners.size > 1) {
      const changes = this.#after(this.#snapshot.offset);
      if (changes) return { epoch: this.#epoch, snapshot: this.#snapshot, changes };
    }
    // No other instance listens, or the log has a gap: end the epoch. The next one begins with a snapshot to resync
    // from.
    this.#epoch = null;
    this.#changes = [];
    this.#progress = null;
    return null;
  }

  begin(epoch: number, text: string): boolean {
    if (this.#epoch !== null) return false;
    this.#epoch = epoch;
    this.#snapshot = { offset: 0, text };
    this.#changes = [];
    this.#last = 0;
    return true;
  }

  append(owner: object, epoch: number, texts: readonly string[]): number | null {
    if (epoch !== this.#epoch) return null;
    this.#keepLease(owner);
    for (const text of texts) this.#changes.push({ offset: ++this.#last, text });
    // Trimmed seldom, since that copies the array.
    if (this.#changes.length > 1.1 * limits.logChanges)
      this.#changes = this.#changes.slice(-limits.logChanges);
    return this.#last;
  }

  readAfter({ epoch, offset }: LogOffset): readonly SharedChange[] | null {
    return epoch === this.#epoch ? this.#after(offset) : null;
  }

  replaceSnapshot({ epoch, offset }: LogOffset, text: string): void {
    if (epoch === this.#epoch) this.#snapshot = { offset, text };
  }

  heartbeat(owner: object, progress: string | null): Heartbeat {
    this.#listen(owner);
    if (this.#lease === null || this.#lease.untilMs <= this.#clock.now()) {
      this.#lease = { owner, untilMs: longAgo };
    }
    const isLeader = this.#keepLease(owner);
    if (isLeader && progress !== null) this.#progress = progress;
    const last = this.#epoch === null ? null : { epoch: this.#epoch, offset: this.#last };
    return { isLeader, last, progress: this.#progress };
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
    this.#lease.untilMs = plus(this.#clock.now(), leaseMs);
    return true;
  }

  #listen(owner: object): void {
    this.#removeGone();
    this.#listeners.set(owner, this.#clock.now());
  }

  #removeGone(): void {
    const nowMs = this.#clock.now();
    for (const [one, heartbeatAtMs] of this.#listeners) {
      if (heartbeatAtMs <= nowMs - goneAfterMs) this.#listeners.delete(one);
    }
  }

  /** Null when the next change has been discarded. */
  #after(offset: number): readonly SharedChange[] | null {
    const count = this.#last - offset;
    if (count < 0 || count > this.#changes.length) return null;
    return this.#changes.slice(this.#changes.length - count);
  }
}

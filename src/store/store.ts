import type { ForwardMs } from '../clock.js';
import type { SharedTime } from './shared-time.js';

/**
 * State shared by instances of the gateway (docs/behaviour.md 8): `memory.ts` for one process, `hub/` for workers of
 * one machine, `redis/` for several machines. While the store is unreachable each instance is partitioned: it continues with its own state.
 */
export interface Store {
  /** Null with a single process, where nothing is shared. */
  readonly connection: Connection | null;
  /** Resolves once the store is known to be up or down. Requests sent before are not counted for other instances. */
  readonly settled: Promise<void>;
  /** Number of live instances including this one, as last known: 1 or more. */
  readonly instances: number;
  /**
   * Response bodies read with one key; null where nothing is shared. `name` identifies interface, address and key, and
   * is not secret.
   */
  bodies(name: string): SharedBodies | null;
  /** The requests that all instances send with one key. */
  journal(name: string): Journal;
  /** The replicated log of one feed; null where nothing is shared. */
  changes(name: string): SharedChanges | null;
  close(): Promise<void>;
}

/** The shared store cannot be reached or refuses a command: the caller continues with the state of its own instance. */
export class StoreUnavailable extends Error {
  constructor(cause?: unknown) {
    super('The store that instances share is unavailable', { cause });
    this.name = 'StoreUnavailable';
  }
}

/** The connection to the shared store. */
export interface Connection {
  readonly isUp: boolean;
  /** Calls `listener` whenever `isUp` has changed, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** A response cache shared by all instances. All bodies of a key are cleared when upstream refuses the key. */
export interface SharedBodies {
  /**
   * Reads the cached body of one request and claims the request; a lower `rank` is more urgent. Never fails: while the
   * store is unreachable nothing is cached.
   */
  open(id: string, rank: number): Promise<BodySlot>;
  /** True while another instance is requesting it from upstream, at least as urgently. */
  isClaimed(id: string, rank: number): Promise<boolean>;
  /**
   * Resolves when no other instance is requesting it, or at `untilMs`. `rank` is read at every check, since the request
   * can become more urgent meanwhile. Rejects with the signal's reason when that is aborted.
   */
  whenFree(id: string, rank: () => number, until: WaitUntil): Promise<void>;
  /** Clears all bodies for all instances; responses in flight are not cached either. */
  clear(): void;
  /**
   * Calls `listener` when another instance has cleared the bodies, until the returned function is called. Not every
   * store reports that.
   */
  onCleared(listener: () => void): () => void;
}

export interface WaitUntil {
  readonly untilMs: ForwardMs;
  readonly signal: AbortSignal;
}

export interface BodySlot {
  readonly cached: SharedBody | null;
  /** True when this instance has the claim to ask upstream (docs/behaviour.md 5.3); false when another has it. */
  readonly hasClaim: boolean;
  /** The request is being sent: from now on no other instance takes over the claim, however urgent its own request. */
  sending(): void;
  write(body: SharedBody): void;
  /** Deletes the cached body: the resource is absent or no longer valid. */
  delete(): void;
  /** Releases the claim. Call after every outcome. */
  release(): void;
}

export interface SharedBody {
  /** As upstream sent it; null when upstream reported the resource as absent. */
  readonly body: Buffer | null;
  /** On this instance's clock; conversion errs on the early side. */
  readonly readAtMs: ForwardMs;
  /** When the request was sent, on this instance's clock; conversion errs on the early side. */
  readonly askedAtMs: ForwardMs;
  /** The version that a list had shown when the request was sent; null when no list had shown the resource. */
  readonly version: string | null;
}

/**
 * A log of the requests sent with one key, totally ordered over all instances. Each instance computes its own limits
 * from it, and may add an entry only when it has read all before: so all compute the same.
 */
export interface Journal {
  /**
   * Calls `listener` with the entries of other writers, in order and each once. The standing entry is repeated whenever
   * counts are reported.
   */
  onEntry(listener: (entry: JournalEntry) => void): void;
  /** Reports the requests sent by all instances: at first, and after a gap longer than single entries are retained. */
  onCount(listener: (counts: readonly JournalCount[]) => void): void;
  /** Adds an entry for one request about to be sent, provided that all earlier entries have been read. */
  enter(text: string): Entered | Promise<Entered>;
  /**
   * Adds an entry unconditionally. `counts`: the number of sent requests it stands for; `standsMs`: how long instances
   * that start later must still receive it. Of several standing entries the one that lasts longest is retained. False
   * while the store is unreachable.
   */
  append(text: string, options?: { readonly counts?: number; readonly standsMs?: number }): Promise<boolean>;
}

/**
 * `entered`: all earlier entries had been read here when `enter` was called. `behind`: some had not; they have been
 * reported by now, and nothing was added. `unshared`: no other instance can read it, since there is no shared store or it is unreachable.
 */
export type Entered = 'entered' | 'behind' | 'unshared';

export interface JournalEntry {
  readonly text: string;
  /** On this instance's clock; conversion errs on the late side. */
  readonly atMs: ForwardMs;
}

/** The number of requests sent within one slot of ten minutes. */
export interface JournalCount {
  /** End of the slot, on this instance's clock; conversion errs on the late side. */
  readonly untilMs: ForwardMs;
  readonly count: number;
}

/**
 * The replicated log of one feed, and the lease of the instance that polls. An epoch begins with the snapshot before
 * the first listener, and ends when no instance has listeners, or when Redis has lost it. Its changes are numbered from
 * 1. Every method that returns a promise, except `leave`, can reject with `StoreUnavailable`.
 */
export interface SharedChanges {
  readonly connection: Connection;
  readonly time: Pick<SharedTime, 'toShared' | 'toLocal'>;
  /** Takes part from now on. `own`: the last offset applied by this instance. Null when there is no epoch to follow. */
  attach(own: LogOffset | null): Promise<Attached | null>;
  /** Begins an epoch with the snapshot; false when there is one already. */
  begin(epoch: number, snapshot: string): Promise<boolean>;
  /** Appends changes and returns the number of the last; null when the epoch has ended. */
  append(epoch: number, changes: readonly string[]): Promise<number | null>;
  /** The changes after `offset`; null when its epoch has ended, or no longer reaches back to it. */
  readAfter(offset: LogOffset): Promise<readonly SharedChange[] | null>;
  /** Instances that attach from now on start from `snapshot`, the state at `offset`. */
  replaceSnapshot(offset: LogOffset, snapshot: string): Promise<void>;
  /**
   * Call every `heartbeatMs`: keeps this instance among the listeners, and gives it the lease to poll when no other
   * holds it. `progress`: the poll progress of the leader.
   */
  heartbeat(progress: string | null): Promise<Heartbeat>;
  /** Ends taking part and releases the lease, so that another instance can poll at once. Never fails. */
  leave(): Promise<void>;
  /** Calls `listener` when changes were appended, until the returned function is called. */
  onAppend(listener: () => void): () => void;
}

/** Offset of a change in an epoch; 0 is before the first. */
export interface LogOffset {
  readonly epoch: number;
  readonly offset: number;
}

export interface SharedChange {
  readonly offset: number;
  readonly text: string;
}

/** The current epoch. When there is none, the first instance to poll begins one. */
export interface Attached {
  readonly epoch: number;
  /** The snapshot before `changes`; null when they continue from the offset that this instance has applied. */
  readonly snapshot: { readonly offset: number; readonly text: string } | null;
  readonly changes: readonly SharedChange[];
}

export interface Heartbeat {
  readonly isLeader: boolean;
  /** Offset of the last change; null without an epoch. */
  readonly last: LogOffset | null;
  /** The last progress reported by the leader. */
  readonly progress: string | null;
}

// When the leader is killed, another instance takes over within 10 s (docs/behaviour.md 8): the lease expires after
// `leaseMs`, and the others try to take it every `heartbeatMs`.
export const heartbeatMs = 2_000;
export const leaseMs = 6_000;
/** An instance without a heartbeat for this long counts as gone. */
export const goneAfterMs = 10_000;

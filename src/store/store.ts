import type { SharedTime } from './shared-time.js';

/**
 * What instances of the gateway share (docs/behaviour.md 8), behind one set of interfaces: `memory.ts` for one process, `redis.ts`
 * for many. Nothing of it fails for want of Redis: while that is away each instance goes on by itself.
 */
export interface Store {
  /** Null where nothing is shared, since there is one process. */
  readonly connection: Connection | null;
  /** Over as soon as it is known whether there is anything to share: what is sent before is not shared. */
  readonly settled: Promise<void>;
  /** Instances that take part, as last seen, this one among them: 1 or more. */
  readonly instances: number;
  /**
   * Bodies of answers that were read with one key; null where nothing is shared. `name` tells interface, address and key
   * apart; it is no secret.
   */
  bodies(name: string): SharedBodies | null;
  /** What all instances send with one key. */
  journal(name: string): Journal;
  /** What happened in one feed; null where nothing is shared. */
  changes(name: string): SharedChanges | null;
  close(): Promise<void>;
}

/** What is shared cannot be reached, or refuses: the caller goes on by itself. */
export class StoreAway extends Error {
  constructor(cause?: unknown) {
    super('What instances share is away', { cause });
    this.name = 'StoreAway';
  }
}

/** To what the instances have in common. */
export interface Connection {
  readonly isUp: boolean;
  /** Calls `listener` whenever `isUp` has changed, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** Bodies of answers, for whichever instance wants them next. They go as a whole when the key is refused. */
export interface SharedBodies {
  /**
   * What is kept of one request, and the place to keep it; `rank` says how urgent it is, lower before higher. Never
   * fails: while Redis is away nothing is kept.
   */
  open(id: string, rank: number): Promise<BodyPlace>;
  /** Whether another instance asks upstream for it at this moment, at least as urgently. */
  isAsked(id: string, rank: number): Promise<boolean>;
  /**
   * Over as soon as none does, or at `untilMs`. `rank` is looked at again and again: it may become more urgent meanwhile.
   * Rejects with the signal's reason when that is aborted.
   */
  whenFree(id: string, rank: () => number, until: WaitUntil): Promise<void>;
  /** Forgets all of them, for all instances: what is on its way is not kept either. */
  clear(): void;
  /** Calls `listener` when another instance has done so, where that can be told; until the returned function is called. */
  onCleared(listener: () => void): () => void;
}

export interface WaitUntil {
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

export interface BodyPlace {
  readonly kept: SharedBody | null;
  /** It is for this instance to ask upstream (docs/behaviour.md 5.3). Otherwise another does already, at least as urgently. */
  readonly isOurs: boolean;
  /** It is on its way now: nobody asks for it besides, however urgently. */
  sending(): void;
  keep(body: SharedBody): void;
  /** It is not there, or not any more. */
  forget(): void;
  /** Whatever came of it, it can be another's to ask now. To be called when all is done. */
  leave(): void;
}

export interface SharedBody {
  /** As upstream sent it; null where upstream said that the resource is not there. */
  readonly body: Buffer | null;
  /** On this instance's clock; if anything, earlier than it was. */
  readonly readAtMs: number;
  /** When upstream was asked for it, on this instance's clock; if anything, earlier than it was. */
  readonly askedAtMs: number;
  /** As a list showed the resource when it was asked for; null where none had. */
  readonly version: string | null;
}

/**
 * An account of what was sent with one key, written by all instances in one order. Each keeps its own reckoning of it, and
 * may add an entry only when that is up to date: so all reckon alike.
 */
export interface Journal {
  /**
   * Hears of what others have entered: in order, each once, never what was entered through this journal itself. What
   * stands is heard again whenever the count is.
   */
  onEntry(listener: (entry: JournalEntry) => void): void;
  /** Hears how many requests all instances have sent: at first, and after longer than the entries are told one by one. */
  onCount(listener: (counts: readonly JournalCount[]) => void): void;
  /** Adds an entry for one request that is about to be sent, if all is heard. */
  enter(text: string): Entered | Promise<Entered>;
  /**
   * Adds an entry in any case. `counts`: for how many requests that have been sent; `standsMs`: for how long one that
   * comes later must still hear of it. Of several that stand it is the one that does so for longest. False where nobody
   * can be told.
   */
  tell(text: string, options?: { readonly counts?: number; readonly standsMs?: number }): Promise<boolean>;
}

/**
 * `entered`: nobody else had added anything that was not heard here when `enter` was called. `unheard`: somebody had; it
 * is heard by now, and nothing was added. `alone`: while Redis is away nothing is shared.
 */
export type Entered = 'entered' | 'unheard' | 'alone';

export interface JournalEntry {
  readonly text: string;
  /** On this instance's clock; if anything, later than it was. */
  readonly atMs: number;
}

/** Requests that were sent within ten minutes. */
export interface JournalCount {
  /** The end of them, on this instance's clock; if anything, later than it was. */
  readonly untilMs: number;
  readonly count: number;
}

/**
 * The changes of one feed in one order, and who sees to it that there are any. A run begins with what was there before
 * the first listener, and ends when nobody listens anywhere, or when Redis has lost it. Its changes are numbered from 1.
 * Every method that asks can throw `StoreAway`.
 */
export interface SharedChanges {
  readonly connection: Connection;
  readonly time: Pick<SharedTime, 'toShared' | 'toLocal'>;
  /** Takes part from now on. `own`: as far as this instance knows a run already. */
  attach(own: Place | null): Promise<Attached | null>;
  /** Begins a run from `base`, unless there is one: then the answer is false. */
  begin(run: number, base: string): Promise<boolean>;
  /** Adds changes to the run, and gives the number of the last; null when the run is over. */
  publish(run: number, changes: readonly string[]): Promise<number | null>;
  /** What was added after `place`; null when its run is over, or does not reach back to it any more. */
  readAfter(place: Place): Promise<readonly SharedChange[] | null>;
  /** Whoever attaches from now on starts from `base`, the state at `place`. */
  rebase(place: Place, base: string): Promise<void>;
  /**
   * To be called every `beatMs`: keeps this instance among the listeners, and makes it the one that polls when nobody
   * else does. `pulse`: from the one that polls, how far upstream has been read.
   */
  beat(pulse: string | null): Promise<Heartbeat>;
  /** Takes part no longer; another can poll at once. Never fails. */
  leave(): Promise<void>;
  /** Calls `ring` when something was added, until the returned function is called. */
  onBell(ring: () => void): () => void;
}

/** A change in a run, by its number; 0 is before the first. */
export interface Place {
  readonly run: number;
  readonly seq: number;
}

export interface SharedChange {
  readonly seq: number;
  readonly text: string;
}

/** The run that goes on. Without one whoever polls first begins it. */
export interface Attached {
  readonly run: number;
  /** The state that `changes` follow upon; null where they follow upon what this instance has already. */
  readonly base: { readonly seq: number; readonly text: string } | null;
  readonly changes: readonly SharedChange[];
}

export interface Heartbeat {
  readonly isPolling: boolean;
  /** The run and its last change; null when there is none. */
  readonly last: Place | null;
  /** What the instance that polls said last. */
  readonly pulse: string | null;
}

// Kill the instance that polls, and another goes on within 10 s (docs/behaviour.md 8): it is missed after `leaseMs`, and each of
// the others looks every `beatMs`.
export const heartbeatMs = 2_000;
export const leaseMs = 6_000;
/** An instance that has not been heard of for so long has gone. */
export const goneAfterMs = 10_000;

import type { GatewayError } from '../../errors.js';
import type { Delivery } from '../tracking/change.js';
import type { ChangeLog } from '../tracking/change-log.js';

/** Something that can be listened to: one source, however many listeners. */
export interface Feed<C extends LoggedChange> {
  readonly log: ChangeLog<C>;
  /** Whether a later change of the same record makes this one needless. */
  isFolded(change: C): boolean;
  /** @throws CursorInvalid when `after` is no cursor of this feed */
  check(after: string): void;
  /** One more listener; polling starts with the first. `after` has been checked. */
  listen(after: string | null, listener: FeedListener<C>): Listening;
  status(): FeedStatus;
  /** Ends every subscription: with the error, or as complete. */
  close(error: GatewayError | null): void;
}

export interface LoggedChange {
  readonly observedAtMs: number;
}

export interface FeedListener<C> {
  /** Where to begin. At once where that is known, else as soon as upstream has been asked. */
  begin(start: Start<C>): void;
  /** The feed is over for this listener: with an error, or complete. */
  end(error: GatewayError | null): void;
}

export interface Start<C> {
  /** Delivered first, in this order. */
  readonly replay: readonly Delivery<C>[];
  /** Number of the first change of the log to deliver. */
  readonly from: number;
  /** Those of the log before this number are replayed, from it on they are live. */
  readonly liveFrom: number;
  /** What a change of the log is to this listener, who knows of records that the feed does not; null: no news. */
  readonly adapt?: ((change: C) => C | null) | undefined;
}

export interface Listening {
  /** The listener has left; polling stops after the last. */
  leave(): void;
}

/** How a feed is doing, for `gateway.feeds`, `/ready` and the metrics. */
export interface FeedStatus {
  readonly name: string;
  readonly isActive: boolean;
  readonly subscriberCount: number;
  readonly intervalMs: number;
  readonly lastPollAtMs: number | null;
  /** Since upstream was last read to the end; null while nobody listens, and before the first time. */
  readonly lagMs: number | null;
  /** Active, and without a success for three intervals. */
  readonly isFailing: boolean;
  readonly polls: number;
  readonly failures: number;
}

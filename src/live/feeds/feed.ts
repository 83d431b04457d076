import type { ForwardMs } from '../../clock.js';
import type { GatewayError } from '../../errors.js';
import type { Delivery } from '../tracking/change.js';
import type { ChangeLog } from '../tracking/change-log.js';

/** A source of changes with any number of subscribers, polled once for all of them. */
export interface Feed<C extends LoggedChange> {
  readonly log: ChangeLog<C>;
  /** Number of records that each of its cursors is made of: making one takes the longer, the more there are. */
  readonly recordsPerCursor: number;
  /** True when a later change of the same record supersedes this one. */
  isFolded(change: C): boolean;
  /** @throws CursorInvalid when `after` is no cursor of this feed */
  check(after: string): void;
  /** Adds a listener; polling starts with the first. `after` must have passed `check`. */
  subscribe(after: string | null, listener: FeedListener<C>): Listening;
  status(): FeedStatus;
  /** Ends every subscription with the error, or as complete. */
  close(error: GatewayError | null): void;
}

export interface LoggedChange {
  readonly observedAtMs: ForwardMs;
}

export interface FeedListener<C> {
  /** Delivery begins: at once when the cursor is in the log, otherwise after upstream has been read. */
  begin(start: Start<C>): void;
  /** The subscription ends with the error, or as complete. */
  end(error: GatewayError | null): void;
}

export interface Start<C> {
  /** Delivered first, in this order. */
  readonly replay: readonly Delivery<C>[];
  /** Number of the first change of the log to deliver. */
  readonly from: number;
  /** Changes of the log before this number are marked as replayed, later ones are live. */
  readonly liveFrom: number;
  /** Adapts changes for a listener that knows records which the feed does not know yet; null: nothing new to it. */
  readonly adapt?: ((change: C) => C | null) | undefined;
}

export interface Listening {
  /** The listener has left; polling stops after the last. */
  unsubscribe(): void;
}

/** State of a feed for `gateway.feeds`, `/ready` and the metrics. */
export interface FeedStatus {
  readonly name: string;
  readonly isActive: boolean;
  readonly subscriberCount: number;
  readonly intervalMs: number;
  readonly lastPollAtMs: ForwardMs | null;
  /** Time since upstream was last read to the end; null without subscribers and before the first complete read. */
  readonly lagMs: number | null;
  /** Active, and without a success for three intervals. */
  readonly isFailing: boolean;
  readonly polls: number;
  readonly failures: number;
}

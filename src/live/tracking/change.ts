import type { Source } from '../../errors.js';
import type { SharedChanges } from '../../store/store.js';
import type { Instant } from '../../unify/time/instant.js';

/** One thing that happened to a record of upstream, as the gateway observed it. */
export interface Change<Rec, Kind extends string = string> {
  readonly kind: Kind;
  /** As upstream had it then. */
  readonly record: Rec;
  /** What the filters of subscriptions ask about, gathered over all that was seen of the record. */
  readonly traits: unknown;
  readonly observedAtMs: number;
  /** Where to resume behind this change. Made when asked for: most subscriptions do not select it. */
  cursor(): string;
}

/** A change on its way to a subscriber. */
export interface Delivery<C> {
  readonly change: C;
  /** True when delivered late, from the log or from upstream, rather than live. */
  readonly isReplayed: boolean;
}

/**
 * What a feed is about: records of upstream that are listed by a time of theirs, that can change, and of which some
 * come to an end.
 */
export interface Subject<Rec, Kind extends string> {
  /** As `gateway.feeds` names it. */
  readonly name: string;
  /** Whose records they are. Cursors of one subject are not good for another, nor those of one source. */
  readonly source: Source;
  idOf(record: Rec): string;
  /** What upstream's `from` and `to` go by. */
  timeOf(record: Rec): Instant;
  /** When the gateway read it. */
  readAtMs(record: Rec): number;
  /** Equal texts, equal values: a change of anything else is no change. */
  fingerprintOf(record: Rec): string;
  /** Whether nothing can change any more. */
  isFinal(record: Rec): boolean;
  /** Whether it is to be looked at again until it is final, however long that takes. */
  isOpen(record: Rec): boolean;
  /** What happened, when this record was known before (in another state), or was not. */
  kindOf(record: Rec, isKnown: boolean): Kind;
  /** Changes that only matter until the next of them: a slow subscriber gets the latest. */
  isFolded(kind: Kind): boolean;
  /** What filters ask about, given what was gathered from the record's earlier states. */
  traitsOf(record: Rec, before: unknown): unknown;
  /** All that makes up a record, for other instances: the gateway's own times on the clock that they share. */
  pack(record: Rec, time: SharedChanges['time']): unknown;
  /** The record that was packed; null where it was none. */
  unpack(packed: unknown, time: SharedChanges['time']): Rec | null;
}

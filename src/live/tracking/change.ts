import type { ForwardMs } from '../../clock.js';
import type { Source } from '../../errors.js';
import type { SharedChanges } from '../../store/store.js';
import type { Instant } from '../../unify/time/instant.js';

/** One thing that happened to a record of upstream, as the gateway observed it. */
export interface Change<Rec, Kind extends string = string> {
  readonly kind: Kind;
  /** The record as upstream listed it when the change was observed. */
  readonly record: Rec;
  /** The values that subscription filters test, gathered over all observed states of the record. */
  readonly traits: unknown;
  readonly observedAtMs: ForwardMs;
  /** Resumes after this change. Encoded on demand: most subscriptions do not select it. */
  cursor(): string;
}

/** A change on its way to a subscriber. */
export interface Delivery<C> {
  readonly change: C;
  /** True when delivered late, from the log or from upstream, rather than live. */
  readonly isReplayed: boolean;
}

/**
 * The kind of record that a feed observes: listed upstream by one of its times, changeable, and in some states final.
 */
export interface Subject<Rec, Kind extends string> {
  /** As `gateway.feeds` names it. */
  readonly name: string;
  /** The interface that lists the records. A cursor is valid for one subject and one source only. */
  readonly source: Source;
  idOf(record: Rec): string;
  /** The time that upstream's `from` and `to` compare. */
  timeOf(record: Rec): Instant;
  /** When the gateway read it. */
  readAtMs(record: Rec): ForwardMs;
  /** Equal exactly when all values that count as a change are equal. */
  fingerprintOf(record: Rec): string;
  /** True when the record cannot change any more. */
  isFinal(record: Rec): boolean;
  /** True when every record becomes final in the end. */
  readonly allEnd: boolean;
  /** True when the record is read again until it is final, however long that takes. */
  isOpen(record: Rec): boolean;
  /** True where a record with these traits could be shown to a subscriber: its first such state is delivered as a new record. */
  wasShown(traits: unknown): boolean;
  /** The id of another record of the same thing, which this one takes the place of; null where there is none. */
  continues(record: Rec): string | null;
  /**
   * True for a record that may have been listed before the feed began, though it was read only later: it is no change for
   * a subscriber without a cursor from before.
   */
  isEarlier(record: Rec): boolean;
  /** The kind of change; `isKnown` when the record was shown before in another state. */
  kindOf(record: Rec, isKnown: boolean): Kind;
  /** True for a change that the next one supersedes: a slow subscriber receives only the latest. */
  isFolded(kind: Kind): boolean;
  /** The values that filters test, given those gathered from the record's earlier states. */
  traitsOf(record: Rec, before: unknown): unknown;
  /** The complete record for other instances, with the gateway's own times converted to the shared clock. */
  pack(record: Rec, time: SharedChanges['time']): unknown;
  /** The packed record; null when the value is not one. */
  unpack(packed: unknown, time: SharedChanges['time']): Rec | null;
}

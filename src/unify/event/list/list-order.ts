import type { WireEvent as WireCatalogueEvent } from '../../../upstream/catalogue/wire.js';
import type { WireEvent as WireProjectEvent } from '../../../upstream/project/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import { compareText } from '../../text-order.js';
import { associate, type Reach } from '../association.js';
import type { EventFilter } from '../filter.js';
import { compareEvents, isLocated, type LocatedEvent, mergeEvent } from '../merge.js';
import { type EventPosition, type EventSortKey, marksOf } from './cursor.js';

export interface ListOrderOptions {
  readonly filter: EventFilter;
  readonly order: 'DESC' | 'ASC';
  readonly after: EventPosition | null;
  readonly pushdown: { readonly reach: Reach };
}

/** Order of the list of all events. Positions are `sign × milliseconds`, so they grow in either order. */
export class ListOrder {
  readonly sign: 1 | -1;
  /** Positions where the page begins and the list ends; infinite where they are open. */
  readonly start: number;
  readonly end: number;
  readonly after: EventPosition | null;
  readonly reach: Reach;
  readonly #delivered: ReadonlySet<string>;

  constructor({ filter, order, after, pushdown }: ListOrderOptions) {
    this.reach = pushdown.reach;
    this.sign = order === 'DESC' ? -1 : 1;
    this.after = after;
    const [first, last] = order === 'DESC' ? [filter.to, filter.from] : [filter.from, filter.to];
    const begins = [first, after?.originTime].map((time) => (time ? this.sign * time.ms : -Infinity));
    this.start = Math.max(...begins);
    this.end = last ? this.sign * last.ms : Number.POSITIVE_INFINITY;
    this.#delivered = new Set(after?.delivered);
  }

  positionOf({ solution }: Pick<LocatedEvent, 'solution'>): number {
    return this.sign * solution.originTime.ms;
  }

  /**
   * False for a record so far before the page that it decides on none of its events. The project's list is read by issue
   * time, so a page deep in the list may have read all that was issued since: merging those would take most of its time.
   */
  isNeeded(originMs: number): boolean {
    return this.sign * originMs >= this.start - this.reach.lookAheadMs;
  }

  /** True when the event comes after the cursor. */
  isAhead({ solution, key }: Pick<LocatedEvent, 'solution' | 'key'>): boolean {
    if (!this.after) return true;
    const byTime = this.sign * solution.originTime.compare(this.after.originTime);
    if (byTime !== 0) return byTime > 0;
    if (this.after.key === null) return !this.after.isOpposite;
    return this.sign * compareText(key, this.after.key) > 0;
  }

  /** True when the event was delivered just before the cursor, even at another position. */
  isDelivered(event: LocatedEvent): boolean {
    return this.#delivered.size > 0 && marksOf(event).some((mark) => this.#delivered.has(mark));
  }

  /** The position behind an event. Never before the cursor, even if the event has moved there. */
  behind(event: LocatedEvent): EventSortKey {
    const { originTime, key } =
      this.after && !this.isAhead(event) ? this.after : { ...event.solution, key: event.key };
    return { originTime, key };
  }

  /** Merges the records into events, each earthquake once, in list order. Events without a solution are dropped. */
  merge(
    project: readonly Read<WireProjectEvent>[],
    catalogue: readonly Read<WireCatalogueEvent>[],
  ): LocatedEvent[] {
    const pairs = associate(project, catalogue, this.reach);
    const associated = new Set(pairs.values());
    const events = [
      ...project.map((record) => mergeEvent(record, pairs.get(record) ?? null)),
      ...catalogue.filter((record) => !associated.has(record)).map((record) => mergeEvent(null, record)),
    ];
    return events.filter(isLocated).sort((a, b) => this.sign * compareEvents(a, b));
  }
}

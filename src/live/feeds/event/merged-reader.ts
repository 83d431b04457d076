import { dayMs, type ForwardMs, latest, longAgo, minuteMs, plus, type UnixMs } from '../../../clock.js';
import type { Tenant } from '../../../unify/context.js';
import { associate, wideReach } from '../../../unify/event/association.js';
import { mergeEvent } from '../../../unify/event/merge.js';
import { newCostMeter, type ReadScope } from '../../../upstream/read/read.js';
import type { Absence, ListedPage, ListReader, Newest, Range } from '../../polling/list-reader.js';
import { catalogueOnly, type EventRecord } from './subject.js';

// docs/behaviour.md 9.7: once a minute, since the catalogue's free tier has 10,000 requests a day. A catalogue of many
// pages is polled less often, so that a feed takes at most some 4,000 requests a day.
export function catalogueIntervalMs(requests: number): number {
  return Math.max(minuteMs, requests * 20_000);
}

/**
 * Reads the project's list at each poll and, less often, the catalogue's of the last day: the earthquakes that the catalogue alone
 * has come after the project's (docs/behaviour.md 9.7). While the catalogue cannot be read, the project's list goes on.
 */
export class MergedEventReader implements ListReader<EventRecord> {
  readonly pageSize: number;
  readonly #tenant: Tenant;
  readonly #project: ListReader<EventRecord>;
  readonly #catalogue: ListReader<EventRecord>;
  /** The project's records of the last days, by id. */
  readonly #known = new Map<string, EventRecord>();
  /** The catalogue's last day as last read; null before the first read. */
  #listed: readonly EventRecord[] | null = null;
  /** The project's records of this issue time or later are among the known ones. */
  #knownFromMs: UnixMs = longAgo;
  /** Names of earthquakes from before the feed that its first reading of the catalogue showed: they are not new. */
  #earlier: ReadonlySet<string> = new Set();
  #begunAtMs: UnixMs = longAgo;
  #dueMs: ForwardMs = longAgo;

  constructor(tenant: Tenant, project: ListReader<EventRecord>, catalogue: ListReader<EventRecord>) {
    this.#tenant = tenant;
    this.#project = project;
    this.#catalogue = catalogue;
    this.pageSize = project.pageSize;
  }

  get isPartial(): boolean {
    return this.#listed === null && this.#dueMs > longAgo;
  }

  async newest(scope: ReadScope): Promise<Newest<EventRecord>> {
    this.#listed = null;
    this.#earlier = new Set();
    this.#dueMs = longAgo;
    this.#begunAtMs = this.#tenant.clock.wallMs();
    const [{ records, completeFromMs }] = await Promise.all([
      this.#project.newest(scope),
      this.#readIfDue(scope),
    ]);
    this.#knownFromMs = completeFromMs;
    this.#remember(records);
    const dayAgoMs = plus(this.#tenant.clock.wallMs(), -dayMs);
    return {
      records: [...this.#merged(records), ...this.#alone(this.#listed ?? [])],
      // A resume from an earlier time reads the catalogue's list of that time.
      completeFromMs: latest(completeFromMs, dayAgoMs),
    };
  }

  async *pages(range: Range, scope: ReadScope): AsyncGenerator<ListedPage<EventRecord>> {
    for await (const { records, unreadable } of this.#project.pages(range, scope)) {
      this.#remember(records);
      yield { records: this.#merged(records), unreadable };
    }
    if (range.to === null) {
      await this.#readIfDue(scope);
      yield { records: this.#alone(this.#listed ?? []), unreadable: [] };
    } else if (range.from && range.from.ms < this.#tenant.clock.wallMs() - dayMs) {
      yield await this.#earlierRange(range, scope);
    }
  }

  async #earlierRange(range: Range, scope: ReadScope): Promise<ListedPage<EventRecord>> {
    const listed: EventRecord[] = [];
    const unreadable: string[] = [];
    try {
      for await (const page of this.#catalogue.pages(range, scope)) {
        listed.push(...page.records);
        unreadable.push(...page.unreadable);
      }
    } catch (error) {
      this.#failed(error, scope);
    }
    return { records: this.#alone(listed), unreadable };
  }

  /** The project's records are delivered without the catalogue's. */
  #failed(error: unknown, { signal }: ReadScope): void {
    signal.throwIfAborted();
    const name = error instanceof Error ? error.name : String(error);
    this.#tenant.log.warn(
      { feed: 'eventChanges', error: name },
      'The catalogue cannot be polled; it is tried again',
    );
  }

  again(record: EventRecord, scope: ReadScope): Promise<EventRecord | Absence> {
    return this.#project.again(record, scope);
  }

  async #readIfDue(scope: ReadScope): Promise<void> {
    const { clock } = this.#tenant;
    if (clock.now() < this.#dueMs) return;
    const meter = newCostMeter();
    const isFirst = this.isPartial;
    this.#dueMs = plus(clock.now(), catalogueIntervalMs(1));
    try {
      const { records } = await this.#catalogue.newest({ ...scope, meter });
      this.#dueMs = plus(clock.now(), catalogueIntervalMs(meter.requests));
      this.#listed = records;
      if (!isFirst) return;
      const earlier = records.filter(({ time }) => time.ms <= this.#begunAtMs);
      this.#earlier = new Set(earlier.map(({ id }) => id));
    } catch (error) {
      this.#failed(error, scope);
    }
  }

  #remember(records: readonly EventRecord[]): void {
    const fromMs = plus(this.#tenant.clock.wallMs(), -2 * dayMs);
    for (const record of records) this.#known.set(record.id, record);
    for (const [id, { time }] of this.#known) if (time.ms < fromMs) this.#known.delete(id);
    this.#knownFromMs = latest(this.#knownFromMs, fromMs);
  }

  /** The project's records together with those of the catalogue's last day. */
  #merged(records: readonly EventRecord[]): readonly EventRecord[] {
    const partners = this.#partners(this.#listed ?? []);
    return records.map((record) => {
      const partner = record.project && partners.get(record.project);
      return partner ? { ...record, event: mergeEvent(record.project, partner) } : record;
    });
  }

  /** The catalogue's records that have no partner. */
  #alone(records: readonly EventRecord[]): readonly EventRecord[] {
    const partners = new Set(this.#partners(records).values());
    // No solution is issued before its earthquake.
    const unmatchedFromMs = this.#knownFromMs + wideReach.lookAheadMs;
    return records.flatMap((record) => {
      const { id, time, catalogue } = record;
      if (!catalogue || partners.has(catalogue)) return [];
      return catalogueOnly(record, {
        isEarlier: this.#earlier.has(id),
        isUnmatched: time.ms >= unmatchedFromMs,
      });
    });
  }

  #partners(records: readonly EventRecord[]) {
    const project = [...this.#known.values()].flatMap((record) => record.project ?? []);
    return associate(
      project,
      records.flatMap(({ catalogue }) => catalogue ?? []),
    );
  }
}

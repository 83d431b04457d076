import { dayMs, forever, longAgo, plus } from '../../../clock.js';
import { type Tenant, UnifyContext } from '../../../unify/context.js';
import { CatalogueReader } from '../../../unify/event/list/catalogue-window.js';
import { eventOfProjectRecord } from '../../../unify/event/lookup.js';
import { projectPartner } from '../../../unify/event/partner.js';
import type { CatalogueClient } from '../../../upstream/catalogue/client.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { ProjectClient } from '../../../upstream/project/client.js';
import type { WireEvent } from '../../../upstream/project/wire.js';
import { type ReadScope, readsIn } from '../../../upstream/read/read.js';
import { instantAt, type ListReader, listReader, type Range } from '../../polling/list-reader.js';
import { type EventRecord, ofCatalogue, ofProject } from './subject.js';

/** Reads events of the project by the time of their latest solution (docs/interfaces.md P4). */
export function projectEventReader(project: ProjectClient): ListReader<EventRecord> {
  return listReader<WireEvent, EventRecord>({
    read: (query, scope) => project.events(query, scope),
    recordsOf: (page) => readsIn(page).flatMap((read) => ofProject(read) ?? []),
    timeOf: ({ time }) => time,
    idOf: ({ id }) => id,
    again: () => Promise.resolve('gone'),
  });
}

/**
 * Merges the catalogue's records of the same earthquakes, and looks for the project's of those that the catalogue alone
 * seems to have; events stay as they are where that read fails.
 */
export function withCatalogue(tenant: Tenant) {
  return async (
    records: readonly EventRecord[],
    { signal, operationKey, meter }: ReadScope,
  ): Promise<EventRecord[]> => {
    const ctx = new UnifyContext(tenant, { signal, priority: 'feed', operationKey, meter });
    return Promise.all(
      records.map(async (record) => {
        const { project, catalogue } = record;
        if (project) {
          const event = await eventOfProjectRecord(ctx, project).catch(() => record.event);
          return { ...record, event: event.failures.catalogue ? record.event : event };
        }
        // An event that only resuming subscribers would get is not worth a request: after an outage there are hundreds.
        if (!catalogue || !record.isShown || record.isUnmatched || record.isEarlier) return record;
        const partner = await projectPartner(ctx, catalogue).catch(() => null);
        return { ...record, isShown: partner === null };
      }),
    );
  };
}

/** Reads catalogue events by origin time, since its list has no issue time and no order (docs/interfaces.md C4). */
export function catalogueEventReader(tenant: Tenant, catalogue: CatalogueClient): ListReader<EventRecord> {
  const read = async ({ from, to }: Range, scope: ReadScope): Promise<EventRecord[]> => {
    const reader = new CatalogueReader(new UnifyContext(tenant, scope), catalogue, {
      mostRequests: Number.POSITIVE_INFINITY,
    });
    const window = await reader.open({
      fromMs: from?.ms ?? longAgo,
      toMs: to?.ms ?? forever,
    });
    return (await window.whole()).flatMap((one) => ofCatalogue(one) ?? []);
  };
  return {
    pageSize: largestPage.catalogue,
    async newest(scope) {
      const completeFromMs = plus(tenant.clock.wallMs(), -dayMs);
      return { records: await read({ from: instantAt(completeFromMs), to: null }, scope), completeFromMs };
    },
    async *pages(range, scope) {
      yield { records: await read(range, scope), unreadable: [] };
    },
    again: () => Promise.resolve('gone'),
  };
}

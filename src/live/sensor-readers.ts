import type { Pair } from '../unify/sensor-identity.js';
import { deviceKey } from '../unify/sensor-identity.js';
import type { CatalogueClient } from '../upstream/catalogue/client.js';
import type { ProjectClient } from '../upstream/project/client.js';
import type { Page, Read, ReadScope } from '../upstream/read.js';

type ReadAll = (scope: ReadScope) => Promise<ReadonlyMap<string, Pair>>;

// key-scoped §8, catalogue §8.
const largestProjectPage = 500;
const largestCataloguePage = 100;

/** All sensors of the project. A row that slips between two pages while they are read is there at the next poll. */
export function projectSensors(project: ProjectClient): ReadAll {
  return async (scope) => {
    const pairs = new Map<string, Pair>();
    for (let offset = 0; ; ) {
      const page = await project.sensors({ limit: largestProjectPage, offset }, scope);
      for (const record of readsOf(page)) pairs.set(deviceKey(record), { project: record, catalogue: null });
      offset += page.value.received;
      if (isLast(page.value, offset, largestProjectPage)) return pairs;
    }
  };
}

/** All sensors of the catalogue. */
export function catalogueSensors(catalogue: CatalogueClient): ReadAll {
  return async (scope) => {
    const pairs = new Map<string, Pair>();
    for (let page = 1, read = 0; ; page++) {
      const answer = await catalogue.sensors({ page, limit: largestCataloguePage }, scope);
      for (const record of readsOf(answer)) pairs.set(record.value.id, { project: null, catalogue: record });
      read += answer.value.received;
      if (isLast(answer.value, read, answer.value.limit)) return pairs;
    }
  };
}

function readsOf<W>({ value, readAtMs }: Read<Page<W>>): Read<W>[] {
  return value.items.map((item) => ({ value: item, readAtMs }));
}

function isLast({ received, total }: Page<unknown>, read: number, limit: number): boolean {
  return received === 0 || (total === null ? received < limit : read >= total);
}

import { minuteMs } from '../../../clock.js';
import type { Maybe } from '../../../maybe.js';
import type { CatalogueClient } from '../../../upstream/catalogue/client.js';
import type { WireSensor as CatalogueSensor } from '../../../upstream/catalogue/wire.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import type { ProjectClient } from '../../../upstream/project/client.js';
import type { WireSensor as ProjectSensor } from '../../../upstream/project/wire.js';
import type { Tenant, UnifyContext } from '../../context.js';
import { codeKeyOf, createNetworkCodes } from '../../network/code.js';
import { type CatalogueRecord, deviceKeyOf } from '../identity.js';
import { associateSensors, type SensorAssociation } from './association.js';
import { SensorListing } from './listing.js';
import type { PageSource } from './pages.js';
import type { Listed } from './reading.js';

/** The sensor lists of both interfaces and their association, shared by all operations of one key. */
export interface Inventory {
  /** Keyed by Device ID as `serialKey` writes it. Null where the interface is not configured. */
  readonly project: SensorListing<ProjectSensor> | null;
  /** Keyed by catalogue id. Null where the interface is not configured. */
  readonly catalogue: SensorListing<CatalogueSensor> | null;
  /** The association of two lists in their present state, with the network codes learnt so far. */
  associate(
    project: Listed<ProjectSensor> | null,
    catalogue: Listed<CatalogueSensor> | null,
  ): SensorAssociation;
}

/** For `tenant.perTenant`. */
export function createInventory(tenant: Tenant): Inventory {
  const { project, catalogue, clock, signal } = tenant;
  const codes = tenant.perTenant(createNetworkCodes);
  const codeOf = (record: CatalogueRecord) => codes.of(codeKeyOf(record.value));
  const latest = new LatestAssociation();
  return {
    project:
      project &&
      new SensorListing({
        source: projectPages(project),
        clock,
        signal,
        rateLimit: () => project.status().rateLimit,
        mayServeCached: () => project.mayServeCached(),
        derivedCache: project.derivedCache,
      }),
    catalogue:
      catalogue &&
      new SensorListing({
        source: cataloguePages(catalogue),
        clock,
        signal,
        rateLimit: () => catalogue.status().rateLimit,
        mayServeCached: () => catalogue.mayServeCached(),
        derivedCache: catalogue.derivedCache,
      }),
    associate(projectList, catalogueList) {
      const [projectRecords, catalogueRecords] = [projectList?.records, catalogueList?.records];
      const key = [projectRecords?.size, catalogueRecords?.size, codes.version].join();
      // Associating ten thousand sensors is slow, so the result is reused until a list or a network code changes.
      return latest.of(projectRecords ?? none, catalogueRecords ?? none, key, () =>
        associateSensors(projectRecords?.values() ?? [], catalogueRecords?.values() ?? [], codeOf),
      );
    },
  };
}

/** Number of sensors by the last complete lists; infinite where one of them has not been read. */
export function knownSensorCount(tenant: Tenant): number {
  const inventory = tenant.perTenant(createInventory);
  const { project, catalogue } = inventory;
  const [projectRecords, catalogueRecords] = [project?.lastComplete ?? null, catalogue?.lastComplete ?? null];
  if ((project && !projectRecords) || (catalogue && !catalogueRecords)) return Number.POSITIVE_INFINITY;
  return inventory.associate(projectRecords, catalogueRecords).pairs.length;
}

/**
 * Reads the lists that `knownSensorCount` counts, as an operation with a list of sensors does anyway. Where that fails
 * it reads nothing for a minute, so that operations which are refused without the number cannot spend the budget.
 */
export function learnSensorCount(ctx: UnifyContext): Maybe<void> {
  const { tenant } = ctx;
  const attempts = tenant.perTenant(createAttempts);
  if (tenant.clock.now() < attempts.nextMs) return;
  const { project, catalogue } = tenant.perTenant(createInventory);
  return Promise.all([project?.read(ctx), catalogue?.read(ctx)]).then(() => {
    if (knownSensorCount(tenant) === Number.POSITIVE_INFINITY)
      attempts.nextMs = tenant.clock.now() + minuteMs;
  });
}

const createAttempts = () => ({ nextMs: Number.NEGATIVE_INFINITY });

const none: ReadonlyMap<string, never> = new Map<string, never>();

/** The latest association, held weakly so that it does not outlive either list. */
class LatestAssociation {
  #latest = new WeakMap<
    object,
    WeakMap<object, { readonly key: string; readonly association: SensorAssociation }>
  >();

  of(
    projectRecords: object,
    catalogueRecords: object,
    key: string,
    make: () => SensorAssociation,
  ): SensorAssociation {
    const known = this.#latest.get(projectRecords)?.get(catalogueRecords);
    if (known?.key === key) return known.association;
    const association = make();
    this.#latest = new WeakMap([[projectRecords, new WeakMap([[catalogueRecords, { key, association }]])]]);
    return association;
  }
}

function projectPages(client: ProjectClient): PageSource<ProjectSensor> {
  return {
    // docs/interfaces.md P8.
    pageSize: largestPage.project,
    read: async (index, size, scope) => {
      const page = await client.sensors({ limit: largestPage.project, offset: index * size }, scope);
      return { ...page, appliedSize: largestPage.project };
    },
    idOf: (wire) => deviceKeyOf(wire.device_id),
  };
}

function cataloguePages(client: CatalogueClient): PageSource<CatalogueSensor> {
  return {
    // docs/interfaces.md C8.
    pageSize: largestPage.catalogue,
    read: async (index, _size, scope) => {
      const page = await client.sensors({ page: index + 1, limit: largestPage.catalogue }, scope);
      return { ...page, appliedSize: page.value.limit };
    },
    idOf: (wire) => wire.id,
  };
}

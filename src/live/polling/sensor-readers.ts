import { UpstreamUnavailable } from '../../errors.js';
import { type Tenant, UnifyContext } from '../../unify/context.js';
import type { CatalogueRecord, Pair, ProjectRecord } from '../../unify/sensor/identity.js';
import { createInventory } from '../../unify/sensor/inventory/inventory.js';
import type { UnifiedSensors } from '../../unify/sensor/inventory/merging.js';
import type { Listed } from '../../unify/sensor/inventory/reading.js';
import type { Read, ReadScope } from '../../upstream/read/read.js';

/** One reading of the whole list of sensors. */
export interface SensorReading {
  /** By a key for each sensor. */
  readonly pairs: ReadonlyMap<string, Pair>;
  /** False where records of the list cannot be read: a sensor that is missing may still be there. */
  readonly isReadable: boolean;
}

export type SensorLists = Pick<UnifiedSensors, 'project' | 'catalogue'>;

export type ReadSensors = (scope: ReadScope) => Promise<SensorReading>;

/**
 * All sensors of the project. The feed reads the list from which queries are answered, so that their
 * answers include what a poll has found (docs/behaviour.md 5.7).
 */
export function projectSensors(tenant: Tenant): ReadSensors {
  return async (scope) => {
    const { project } = tenant.perTenant(createInventory);
    return readingOf(projectPair, await project?.read(new UnifyContext(tenant, scope)));
  };
}

/** All sensors of the catalogue, likewise. */
export function catalogueSensors(tenant: Tenant): ReadSensors {
  return async (scope) => {
    const { catalogue } = tenant.perTenant(createInventory);
    return readingOf(cataloguePair, await catalogue?.read(new UnifyContext(tenant, scope)));
  };
}

/** The sensors of lists that have been read. @throws where the list is incomplete */
export const listedOfProject = ({ project }: SensorLists) => readingOf(projectPair, project);
export const listedOfCatalogue = ({ catalogue }: SensorLists) => readingOf(cataloguePair, catalogue);

const projectPair = (project: ProjectRecord): Pair => ({ project, catalogue: null });
const cataloguePair = (catalogue: CatalogueRecord): Pair => ({ project: null, catalogue });

function readingOf<W>(
  pairOf: (record: Read<W>) => Pair,
  listed: Listed<W> | null | undefined,
): SensorReading {
  if (listed?.complete) {
    const pairs = new Map([...listed.records].map(([key, record]) => [key, pairOf(record)]));
    return { pairs, isReadable: listed.dropped === 0 };
  }
  throw listed?.failure ?? new UpstreamUnavailable('The list of sensors was not read to its end');
}

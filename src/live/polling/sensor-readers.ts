import { UpstreamUnavailable } from '../../errors.js';
import { type Tenant, UnifyContext } from '../../unify/context.js';
import type { Pair } from '../../unify/sensor/identity.js';
import { createInventory } from '../../unify/sensor/inventory/inventory.js';
import type { SensorListing } from '../../unify/sensor/inventory/listing.js';
import type { Read, ReadScope } from '../../upstream/read/read.js';

/** One reading of the whole list of sensors. */
export interface SensorReading {
  /** By a key for each sensor. */
  readonly pairs: ReadonlyMap<string, Pair>;
  /** False where records of the list cannot be read: a sensor that is missing may still be there. */
  readonly isReadable: boolean;
}

export type ReadSensors = (scope: ReadScope) => Promise<SensorReading>;

/**
 * All sensors of the project. The feed reads the list from which queries are answered, so that their
 * answers include what a poll has found (docs/behaviour.md 5.7).
 */
export function projectSensors(tenant: Tenant): ReadSensors {
  return (scope) => {
    const { project: list } = tenant.perTenant(createInventory);
    return whole(list, new UnifyContext(tenant, scope), (project) => ({ project, catalogue: null }));
  };
}

/** All sensors of the catalogue, likewise. */
export function catalogueSensors(tenant: Tenant): ReadSensors {
  return (scope) => {
    const { catalogue: list } = tenant.perTenant(createInventory);
    return whole(list, new UnifyContext(tenant, scope), (catalogue) => ({ project: null, catalogue }));
  };
}

async function whole<W>(
  list: SensorListing<W> | null,
  ctx: UnifyContext,
  pairOf: (record: Read<W>) => Pair,
): Promise<SensorReading> {
  const listed = await list?.read(ctx);
  if (listed?.complete) {
    const pairs = new Map([...listed.records].map(([key, record]) => [key, pairOf(record)]));
    return { pairs, isReadable: listed.dropped === 0 };
  }
  throw listed?.failure ?? new UpstreamUnavailable('The list of sensors was not read to its end');
}

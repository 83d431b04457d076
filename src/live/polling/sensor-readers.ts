import { UpstreamUnavailable } from '../../errors.js';
import { type Tenant, UnifyContext } from '../../unify/context.js';
import type { Pair } from '../../unify/sensor/identity.js';
import { createInventory } from '../../unify/sensor/inventory/inventory.js';
import type { SensorListing } from '../../unify/sensor/inventory/listing.js';
import type { Read, ReadScope } from '../../upstream/read/read.js';

type ReadAll = (scope: ReadScope) => Promise<ReadonlyMap<string, Pair>>;

/**
 * All sensors of the project, by a key for each. The feed reads the list from which queries are answered, so that their
 * answers include what a poll has found (docs/behaviour.md 5.7).
 */
export function projectSensors(tenant: Tenant): ReadAll {
  return async (scope) => {
    const records = await whole(tenant.perTenant(createInventory).project, new UnifyContext(tenant, scope));
    return new Map([...records].map(([key, project]) => [key, { project, catalogue: null }]));
  };
}

/** All sensors of the catalogue, likewise. */
export function catalogueSensors(tenant: Tenant): ReadAll {
  return async (scope) => {
    const records = await whole(tenant.perTenant(createInventory).catalogue, new UnifyContext(tenant, scope));
    return new Map([...records].map(([key, catalogue]) => [key, { project: null, catalogue }]));
  };
}

async function whole<W>(
  list: SensorListing<W> | null,
  ctx: UnifyContext,
): Promise<ReadonlyMap<string, Read<W>>> {
  const listed = await list?.read(ctx);
  if (listed?.complete) return listed.records;
  throw listed?.failure ?? new UpstreamUnavailable('The list of sensors was not read to its end');
}

import type { WireSensor as CatalogueSensor } from '../upstream/catalogue/wire.js';
import type { WireSensor as ProjectSensor } from '../upstream/project/wire.js';
import type { UnifyContext } from './context.js';
import { createInventory } from './inventory.js';
import { codeKeyOf, createNetworkCodes } from './network-code.js';
import { networkCodeOf } from './network-code-lookup.js';
import type { SensorListing } from './sensor-listing.js';
import type { Pairing } from './sensor-matching.js';
import type { Listed } from './sensor-reading.js';

// A code costs a request or two: the rest is learnt by the operations after this one.
const mostLearnt = 10;

/** Both lists as far as they could be read, and which records are the same sensor. */
export interface UnifiedSensors {
  readonly pairing: Pairing;
  /** Null where the interface is not configured, or was not asked. */
  readonly project: Listed<ProjectSensor> | null;
  readonly catalogue: Listed<CatalogueSensor> | null;
}

/** Which of the two lists the caller needs to see the whole of; both, unless said. */
export interface Wanted {
  readonly project?: boolean;
  readonly catalogue?: boolean;
}

/**
 * All sensors, paired by contract 6.1, in order. A network's code is learnt where it decides whether two records are the same
 * sensor, or which of two comes first, and only there; records whose network's code cannot be learnt stay apart.
 */
export async function unifySensors(ctx: UnifyContext, wanted: Wanted = {}): Promise<UnifiedSensors> {
  const inventory = ctx.kept(createInventory);
  const [project, catalogue] = await Promise.all([
    read(ctx, inventory.project, wanted.project),
    read(ctx, inventory.catalogue, wanted.catalogue),
  ]);
  const codes = ctx.kept(createNetworkCodes);
  let pairing = inventory.pairing(project, catalogue);
  const before = codes.version;
  const networks = new Map(
    [...pairing.undecided, ...pairing.unordered].map(({ value }) => [codeKeyOf(value), value]),
  );
  await Promise.all(
    [...networks.values()]
      .slice(0, mostLearnt)
      .map((sensor) => networkCodeOf(ctx, sensor).catch(() => ctx.scope.signal.throwIfAborted())),
  );
  if (codes.version !== before) pairing = inventory.pairing(project, catalogue);
  return { pairing, project, catalogue };
}

async function read<W>(
  ctx: UnifyContext,
  list: SensorListing<W> | null,
  isWanted = true,
): Promise<Listed<W> | null> {
  if (!list) return null;
  return isWanted ? list.read(ctx) : list.known(ctx);
}

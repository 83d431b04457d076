import { UpstreamTimeout } from '../../../errors.js';
import { type Maybe, promised } from '../../../maybe.js';
import type { WireSensor as CatalogueSensor } from '../../../upstream/catalogue/wire.js';
import type { WireSensor as ProjectSensor } from '../../../upstream/project/wire.js';
import type { UnifyContext } from '../../context.js';
import { createMaskSetting } from '../../masking/setting.js';
import { codeKeyOf, createNetworkCodes } from '../../network/code.js';
import { networkCodeOf } from '../../network/code-lookup.js';
import type { CatalogueRecord } from '../identity.js';
import type { SortedPair } from '../order.js';
import type { SensorAssociation } from './association.js';
import { createInventory } from './inventory.js';
import type { SensorListing } from './listing.js';
import type { Listed } from './reading.js';

// Bound per operation, because a code costs one or two requests: later operations learn the rest.
const mostLearnt = 10;

/** Both lists as far as they could be read, and which records are the same sensor. */
export interface UnifiedSensors {
  readonly association: SensorAssociation;
  /** Null where the interface is not configured, or was not asked. */
  readonly project: Listed<ProjectSensor> | null;
  readonly catalogue: Listed<CatalogueSensor> | null;
}

/** The lists that the caller needs in full; both by default. A list that is not needed is used where it is cached. */
export interface Wanted {
  readonly project?: boolean;
  readonly catalogue?: boolean;
}

/**
 * All sensors in order, merged by the rules of docs/behaviour.md 6.1. A network's code is learnt only where it decides
 * whether two records are the same sensor; records for which it cannot be learnt are not merged.
 */
export function unifySensors(ctx: UnifyContext, wanted: Wanted = {}): Maybe<UnifiedSensors> {
  return unifySensorsNow(ctx, wanted) ?? unifySensorsLater(ctx, wanted);
}

/** The result where both lists are cached and no code has to be learnt; undefined otherwise. */
function unifySensorsNow(ctx: UnifyContext, wanted: Wanted): UnifiedSensors | undefined {
  const inventory = ctx.tracked(createInventory);
  const project = listNow(ctx, inventory.project, wanted.project);
  if (project === undefined) return undefined;
  const catalogue = listNow(ctx, inventory.catalogue, wanted.catalogue);
  if (catalogue === undefined) return undefined;
  ctx.tracked(createNetworkCodes).note(ctx);
  const association = inventory.associate(project, catalogue);
  return association.undecided.length === 0 ? { association, project, catalogue } : undefined;
}

function listNow<W>(
  ctx: UnifyContext,
  list: SensorListing<W> | null,
  isWanted = true,
): Listed<W> | null | undefined {
  if (!list) return null;
  return isWanted ? list.now(ctx) : list.knownNow(ctx);
}

async function unifySensorsLater(ctx: UnifyContext, wanted: Wanted): Promise<UnifiedSensors> {
  const inventory = ctx.tracked(createInventory);
  const [project, catalogue] = await Promise.all([
    read(ctx, inventory.project, wanted.project),
    read(ctx, inventory.catalogue, wanted.catalogue),
  ]);
  if (project?.failure instanceof UpstreamTimeout)
    ctx.tracked(createMaskSetting).giveUp(ctx, project.failure);
  ctx.tracked(createNetworkCodes).note(ctx);
  let association = inventory.associate(project, catalogue);
  if (await learnCodes(ctx, association.undecided)) association = inventory.associate(project, catalogue);
  return { association, project, catalogue };
}

/**
 * Learns the network codes that decide the order of these sensors among others of the same station code, which may be
 * behind them as yet. True when the order may have changed.
 */
export function learnOrder(
  ctx: UnifyContext,
  { unordered, pairs: all }: SensorAssociation,
  pairs: readonly SortedPair[],
): Maybe<boolean> {
  if (unordered.size === 0) return false;
  const stations = new Set(pairs.map(({ sortKey }) => sortKey.stationCode));
  const records = all.flatMap(({ catalogue, sortKey }) =>
    catalogue && unordered.has(catalogue) && stations.has(sortKey.stationCode) ? [catalogue] : [],
  );
  return records.length > 0 && learnCodes(ctx, records);
}

async function learnCodes(ctx: UnifyContext, records: readonly CatalogueRecord[]): Promise<boolean> {
  const codes = ctx.tracked(createNetworkCodes);
  const before = codes.version;
  const networks = new Map(records.map(({ value }) => [codeKeyOf(value), value]));
  await Promise.all(
    [...networks.values()]
      .slice(0, mostLearnt)
      .map((sensor) =>
        promised(() => networkCodeOf(ctx, sensor)).catch(() => ctx.scope.signal.throwIfAborted()),
      ),
  );
  return codes.version !== before;
}

async function read<W>(
  ctx: UnifyContext,
  list: SensorListing<W> | null,
  isWanted = true,
): Promise<Listed<W> | null> {
  if (!list) return null;
  return isWanted ? list.read(ctx) : list.known(ctx);
}

import type { Source } from '../../errors.js';
import { type Maybe, whenKnown } from '../../maybe.js';
import { known } from '../../upstream/decode/fields.js';
import { unreadableRecords } from '../../upstream/decode/response.js';
import type { UnifyContext } from '../context.js';
import { isListOutdated, locationView } from '../masking/masking.js';
import { pointOrNull } from '../masking/position.js';
import {
  filtersByLocation,
  filtersByNetworkCode,
  filtersByPosition,
  type LearntCodes,
  learnNetworkCodes,
  neededSource,
  networkCodeMatcher,
  type SensorFilter,
  sensorMatcher,
} from './filter.js';
import { type DeviceKey, deviceKey, type ProjectRecord } from './identity.js';
import { type UnifiedSensors, unifySensors, type Wanted } from './inventory/merging.js';
import { defaultOrder, inOrder, type SensorOrder, sortedBy } from './list-order.js';
import type { SortedPair } from './order.js';

/** The sensors that match a filter, in order. */
export interface Selection {
  readonly unified: UnifiedSensors;
  readonly pairs: readonly SortedPair[];
  /** The interfaces that could not answer, or sent records that cannot be read, with the reason. */
  readonly failures: ReadonlyMap<Source, unknown>;
}

/** @throws the failure when none of the interfaces that the filter needs can answer */
export function selectSensors(ctx: UnifyContext, filter: SensorFilter, order: SensorOrder): Maybe<Selection> {
  const needed = neededSource(ctx, filter);
  // With `source: PROJECT` the catalogue's list is needed only to compare network codes, positions and times of merged
  // sensors.
  const catalogue =
    needed !== 'PROJECT' ||
    filtersByNetworkCode(filter) ||
    filtersByPosition(filter) ||
    sortedBy(order) !== 'STATION_CODE';
  if (filtersByLocation(filter) || filtersByNetworkCode(filter) || sortedBy(order) === 'NETWORK_CODE') {
    return selectSensorsLater(ctx, filter, order, { catalogue });
  }
  return whenKnown(unifySensors(ctx, { catalogue }), (unified) => {
    const pairs = inOrder(order, unified.association.pairs);
    return {
      unified,
      pairs: matchesAll(filter) ? pairs : pairs.filter(sensorMatcher(ctx, filter, null)),
      failures: failuresOf(unified, needed),
    };
  });
}

function matchesAll(filter: SensorFilter): boolean {
  return Object.values(filter).every((value) => value == null);
}

/** Conditions on the sensor of a record that names its Device ID alone. All given ones must hold. */
export type DeviceFilter = Pick<SensorFilter, 'networkCodes' | 'boundingBox' | 'within'>;

export interface SelectedDevices {
  /** Keys of the project's sensors that match (`deviceKey`). */
  readonly devices: ReadonlySet<DeviceKey>;
  readonly failures: Selection['failures'];
  /** The failure for want of which sensors may be missing until it passes; null where what can be read was read. */
  readonly incomplete: unknown;
}

/**
 * The project's sensors that match, each at its public position (docs/behaviour.md 6.4). The catalogue is read only where
 * the project leaves a code or a position open.
 * @throws the failure when the project's list cannot be read
 */
export async function selectDevices(ctx: UnifyContext, filter: DeviceFilter): Promise<SelectedDevices> {
  const { project } = await unifySensors(ctx, { catalogue: false });
  const isOpen = ({ value }: ProjectRecord) =>
    (filter.networkCodes != null && known(value.network) === null) ||
    (filtersByPosition(filter) && !pointOrNull(value.location));
  const catalogue = ctx.catalogue !== null && [...(project?.records.values() ?? [])].some(isOpen);
  const selection = await selectSensorsLater(ctx, { ...filter, source: 'PROJECT' }, defaultOrder, {
    catalogue,
  });
  const failures = new Map(selection.failures);
  if (!catalogue) failures.delete('CATALOGUE');
  const devices = selection.pairs.flatMap((pair) => (pair.project ? [deviceKey(pair.project)] : []));
  const list = selection.unified.project;
  // Records that cannot be read stay so, and are not waited for.
  const incomplete = list?.failure || list?.dropped === 0 ? (failures.get('PROJECT') ?? null) : null;
  return { devices: new Set(devices), failures, incomplete };
}

/** True where sensors have to be selected first. */
export function filtersByDevice(filter: DeviceFilter): boolean {
  return filtersByPosition(filter) || filter.networkCodes != null;
}

/** For filters that need reads first: public positions, names of sites, network codes. */
async function selectSensorsLater(
  ctx: UnifyContext,
  filter: SensorFilter,
  order: SensorOrder,
  wanted: Pick<Wanted, 'catalogue'>,
): Promise<Selection> {
  const needed = neededSource(ctx, filter);
  const byLocation = filtersByLocation(filter);
  let unified = await unifySensors(ctx, wanted);
  if (byLocation && unified.project && (await isListOutdated(ctx, unified.project.records.values()))) {
    unified = await unifySensors(ctx, wanted);
  }
  let { matches, withheld } = locationMatcher(ctx, filter, unified);
  let codes: LearntCodes | null = null;
  if (filtersByNetworkCode(filter) || sortedBy(order) === 'NETWORK_CODE') {
    codes = await learnNetworkCodes(ctx, unified.association.pairs.filter(matches));
    // The sensors are sorted, and associated, by what has been learnt.
    unified = await unifySensors(ctx, wanted);
    ({ matches, withheld } = locationMatcher(ctx, filter, unified));
  }
  const hasCode = codes && filtersByNetworkCode(filter) ? networkCodeMatcher(filter, codes) : () => true;
  const failures = failuresOf(unified, needed);
  if (withheld && !failures.has('PROJECT')) failures.set('PROJECT', withheld);
  if (codes?.failure && !failures.has('CATALOGUE')) failures.set('CATALOGUE', codes.failure);
  const pairs = inOrder(order, unified.association.pairs).filter((pair) => matches(pair) && hasCode(pair));
  return { unified, pairs, failures };
}

/** Matches the filter except the network code; `withheld` is the failure that hides positions and names, or null. */
function locationMatcher(ctx: UnifyContext, filter: SensorFilter, { project, association }: UnifiedSensors) {
  const view = filtersByLocation(filter)
    ? locationView(ctx, {
        isWhole: !ctx.project || (project?.complete === true && project.dropped === 0),
        besideProject: association.besideProject,
      })
    : null;
  return { matches: sensorMatcher(ctx, filter, view), withheld: view?.withheld };
}

/** The failures by interface. @throws the failure when none of the needed interfaces has any record */
function failuresOf({ project, catalogue }: UnifiedSensors, needed: Source | null): Map<Source, unknown> {
  const failures = new Map<Source, unknown>();
  if (project?.failure) failures.set('PROJECT', project.failure);
  if (catalogue?.failure) failures.set('CATALOGUE', catalogue.failure);
  const hasNone = (source: Source) => {
    const listed = source === 'PROJECT' ? project : catalogue;
    return !listed || (listed.failure && listed.records.size === 0);
  };
  const asked = needed ? [needed] : (['PROJECT', 'CATALOGUE'] as const);
  if (failures.size > 0 && asked.every(hasNone)) {
    const failure = asked.flatMap((source) => failures.get(source) ?? [])[0];
    if (failure) throw failure;
  }
  for (const [source, listed] of [['PROJECT', project] as const, ['CATALOGUE', catalogue] as const]) {
    if (listed && listed.dropped > 0 && !failures.has(source)) {
      failures.set(source, unreadableRecords(source, listed.dropped));
    }
  }
  return failures;
}

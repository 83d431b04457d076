import type { Source } from '../../errors.js';
import { type Maybe, whenKnown } from '../../maybe.js';
import { known } from '../../upstream/decode/fields.js';
import { unreadableRecords } from '../../upstream/decode/response.js';
import type { UnifyContext } from '../context.js';
import { isListOutdated, positionView } from '../masking/masking.js';
import { pointOrNull } from '../masking/position.js';
import {
  filtersByPosition,
  inNetworks,
  neededSource,
  networkCodesOf,
  type SensorFilter,
  sensorMatcher,
} from './filter.js';
import { deviceKey, type ProjectRecord } from './identity.js';
import { type UnifiedSensors, unifySensors, type Wanted } from './inventory/merging.js';
import type { SortedPair } from './order.js';

/** The sensors that match a filter, in order. */
export interface Selection {
  readonly unified: UnifiedSensors;
  readonly pairs: readonly SortedPair[];
  /** The interfaces that could not answer, or sent records that cannot be read, with the reason. */
  readonly failures: ReadonlyMap<Source, unknown>;
}

/** @throws the failure when none of the interfaces that the filter needs can answer */
export function selectSensors(ctx: UnifyContext, filter: SensorFilter): Maybe<Selection> {
  const needed = neededSource(ctx, filter);
  if (filtersByPosition(filter) || networkCodesOf(filter)) {
    // With `source: PROJECT` the catalogue's list is needed all the same: it may have the code or the position.
    return selectSensorsLater(ctx, filter, { catalogue: true });
  }
  return whenKnown(unifySensors(ctx, { catalogue: needed !== 'PROJECT' }), (unified) => ({
    unified,
    pairs: isEmpty(filter)
      ? unified.association.pairs
      : unified.association.pairs.filter(sensorMatcher(ctx, filter, null)),
    failures: failuresOf(unified, needed),
  }));
}

const isEmpty = (filter: SensorFilter) => Object.values(filter).every((value) => value == null);

/** Conditions on the sensor of a record that names its Device ID alone. All given ones must hold. */
export type DeviceFilter = Pick<SensorFilter, 'networkCodes' | 'boundingBox' | 'within'>;

export interface SelectedDevices {
  /** Keys of the project's sensors that match (`deviceKey`). */
  readonly devices: ReadonlySet<string>;
  readonly failures: Selection['failures'];
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
  const selection = await selectSensorsLater(ctx, { ...filter, source: 'PROJECT' }, { catalogue });
  const failures = new Map(selection.failures);
  if (!catalogue) failures.delete('CATALOGUE');
  const devices = selection.pairs.flatMap((pair) => (pair.project ? [deviceKey(pair.project)] : []));
  return { devices: new Set(devices), failures };
}

/** True where sensors have to be selected first. */
export function filtersByDevice(filter: DeviceFilter): boolean {
  return filtersByPosition(filter) || filter.networkCodes != null;
}

/** For filters that need reads first: public positions, network codes. */
async function selectSensorsLater(
  ctx: UnifyContext,
  filter: SensorFilter,
  wanted: Pick<Wanted, 'catalogue'>,
): Promise<Selection> {
  const needed = neededSource(ctx, filter);
  const byPosition = filtersByPosition(filter);
  let unified = await unifySensors(ctx, wanted);
  if (byPosition && unified.project && (await isListOutdated(ctx, unified.project.records.values()))) {
    unified = await unifySensors(ctx, wanted);
  }
  const failures = failuresOf(unified, needed);
  const { project, association } = unified;
  const view = byPosition
    ? positionView(ctx, {
        isWhole: !ctx.project || (project?.complete === true && project.dropped === 0),
        besideProject: association.besideProject,
      })
    : null;
  if (view?.withheld && !failures.has('PROJECT')) failures.set('PROJECT', view.withheld);
  const matches = sensorMatcher(ctx, filter, view);
  const pairs = association.pairs.filter(matches);
  const codes = networkCodesOf(filter);
  if (!codes) return { unified, pairs, failures };
  const coded = await inNetworks(ctx, pairs, codes);
  if (coded.failure && !failures.has('CATALOGUE')) failures.set('CATALOGUE', coded.failure);
  return { unified, pairs: coded.pairs, failures };
}

/** The failures by interface. @throws the failure when none of the needed interfaces has any record */
function failuresOf({ project, catalogue }: UnifiedSensors, needed: Source | null): Map<Source, unknown> {
  const failures = new Map<Source, unknown>();
  if (project?.failure) failures.set('PROJECT', project.failure);
  if (catalogue?.failure) failures.set('CATALOGUE', catalogue.failure);
  const isEmpty = (source: Source) => {
    const listed = source === 'PROJECT' ? project : catalogue;
    return !listed || (listed.failure && listed.records.size === 0);
  };
  const asked = needed ? [needed] : (['PROJECT', 'CATALOGUE'] as const);
  if (failures.size > 0 && asked.every(isEmpty)) {
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

import type { Source } from '../../errors.js';
import { type Maybe, whenKnown } from '../../maybe.js';
import { unreadableRecords } from '../../upstream/decode/response.js';
import type { UnifyContext } from '../context.js';
import { isListOutdated, locationView } from '../masking/masking.js';
import {
  filtersByLocation,
  filtersByNetworkCode,
  filtersByPosition,
  inNetworkCodes,
  neededSource,
  type SensorFilter,
  sensorMatcher,
} from './filter.js';
import { type UnifiedSensors, unifySensors } from './inventory/merging.js';
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
  if (filtersByLocation(filter) || filtersByNetworkCode(filter)) return selectSensorsLater(ctx, filter);
  const needed = neededSource(ctx, filter);
  return whenKnown(unifySensors(ctx, { catalogue: needed !== 'PROJECT' }), (unified) => ({
    unified,
    pairs: isEmpty(filter)
      ? unified.association.pairs
      : unified.association.pairs.filter(sensorMatcher(ctx, filter, null)),
    failures: failuresOf(unified, needed),
  }));
}

const isEmpty = (filter: SensorFilter) => Object.values(filter).every((value) => value == null);

/** For filters that need reads first: public positions, names of sites, network codes. */
async function selectSensorsLater(ctx: UnifyContext, filter: SensorFilter): Promise<Selection> {
  const needed = neededSource(ctx, filter);
  const byLocation = filtersByLocation(filter);
  // With `source: PROJECT` the catalogue's list is needed only to match network codes and positions of merged sensors.
  const wanted = {
    catalogue: needed !== 'PROJECT' || filtersByNetworkCode(filter) || filtersByPosition(filter),
  };
  let unified = await unifySensors(ctx, wanted);
  if (byLocation && unified.project && (await isListOutdated(ctx, unified.project.records.values()))) {
    unified = await unifySensors(ctx, wanted);
  }
  const failures = failuresOf(unified, needed);
  const { project, association } = unified;
  const view = byLocation
    ? locationView(ctx, {
        isWhole: !ctx.project || (project?.complete === true && project.dropped === 0),
        besideProject: association.besideProject,
      })
    : null;
  if (view?.withheld && !failures.has('PROJECT')) failures.set('PROJECT', view.withheld);
  const matches = sensorMatcher(ctx, filter, view);
  const pairs = association.pairs.filter(matches);
  if (!filtersByNetworkCode(filter)) return { unified, pairs, failures };
  const coded = await inNetworkCodes(ctx, pairs, filter);
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

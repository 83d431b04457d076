import { BadUserInput, GatewayError, type Source } from '../errors.js';
import type { UnifyContext } from './context.js';
import { isListOutdated, positionView } from './masking.js';
import { decodeCursor, encodeCursor, type Slice, sliceOf, type UnavailableSource } from './paging.js';
import type { Sensor } from './sensor.js';
import {
  filtersByPosition,
  inNetworkCode,
  matchesNothing,
  neededSource,
  type SensorFilter,
  sensorMatcher,
} from './sensor-filter.js';
import { pairSensor } from './sensor-lookup.js';
import { comparePlaces, type Placed, type SensorPlace } from './sensor-order.js';
import { type UnifiedSensors, unifySensors } from './sensor-pairing.js';

export interface SensorListArgs {
  readonly filter?: SensorFilter | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export interface SensorSlice extends Slice<Sensor> {
  /** Of all pages; null where an interface could not answer. */
  readonly totalCount: number | null;
}

const list = 'sensors';
const defaultFirst = 50;

/**
 * Sensors of both interfaces, each once, by station code, then network code. Where one interface cannot answer, what there
 * is, and its name. @throws the failure when none can that is configured for it
 */
export async function listSensors(ctx: UnifyContext, args: SensorListArgs): Promise<SensorSlice> {
  if (args.first != null && args.last != null) {
    throw new BadUserInput('`first` and `last` exclude each other: give one of them', { argument: 'last' });
  }
  const filter = args.filter ?? {};
  const needed = neededSource(ctx, filter);
  const after = args.after == null ? null : placeAt(args.after, 'after');
  const before = args.before == null ? null : placeAt(args.before, 'before');
  if (matchesNothing(filter))
    return { ...sliceOf<Sensor>([], { next: false, previous: false }), totalCount: 0 };

  const { unified, pairs, failures } = await filtered(ctx, filter, needed);
  let start = after ? positionOf(pairs, after, 'behind') : 0;
  let end = before ? positionOf(pairs, before, 'at') : pairs.length;
  end = Math.max(start, end);
  if (args.last != null) start = Math.max(start, end - args.last);
  else end = Math.min(end, start + (args.first ?? defaultFirst));
  const edges = pairs.slice(start, end).map((pair) => ({
    cursor: encodeCursor(list, [pair.place.stationCode, pair.place.networkCode, pair.place.key]),
    node: pairSensor(ctx, pair, unified, true),
  }));
  const unavailable = [...failures].map(([source, failure]) => unavailableSource(source, failure));
  return {
    ...sliceOf(edges, { next: end < pairs.length, previous: start > 0 }, unavailable),
    totalCount: unavailable.length > 0 ? null : pairs.length,
  };
}

interface Filtered {
  readonly unified: UnifiedSensors;
  readonly pairs: readonly Placed[];
  readonly failures: ReadonlyMap<Source, unknown>;
}

async function filtered(ctx: UnifyContext, filter: SensorFilter, needed: Source | null): Promise<Filtered> {
  const byPosition = filtersByPosition(filter);
  // Which of the project's sensors the catalogue knows too is only then of interest here.
  const wanted = { catalogue: needed !== 'PROJECT' || filter.networkCode != null || byPosition };
  let unified = await unifySensors(ctx, wanted);
  if (byPosition && unified.project && (await isListOutdated(ctx, unified.project.records.values()))) {
    unified = await unifySensors(ctx, wanted);
  }
  const failures = failuresOf(unified, needed);
  const { project, pairing } = unified;
  const view = byPosition
    ? positionView(ctx, {
        isWhole: !ctx.project || (project?.complete === true && project.dropped === 0),
        besideProject: pairing.besideProject,
      })
    : null;
  if (view?.withheld && !failures.has('PROJECT')) failures.set('PROJECT', view.withheld);
  const matches = sensorMatcher(filter, ctx.clock.now(), view);
  const pairs = pairing.pairs.filter(matches);
  if (filter.networkCode == null) return { unified, pairs, failures };
  const coded = await inNetworkCode(ctx, pairs, filter.networkCode);
  if (coded.failure && !failures.has('CATALOGUE')) failures.set('CATALOGUE', coded.failure);
  return { unified, pairs: coded.pairs, failures };
}

/** Who could not answer. @throws when nobody could who is needed */
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
  return failures;
}

/** Where a page begins: at the cursor's own place or behind it, also when its sensor is gone or has changed its place. */
function positionOf(pairs: readonly Placed[], cursor: SensorPlace, side: 'at' | 'behind'): number {
  const own = pairs.findIndex(
    ({ place }) => place.key === cursor.key && place.stationCode === cursor.stationCode,
  );
  if (own >= 0) return side === 'at' ? own : own + 1;
  const next = pairs.findIndex(({ place }) => comparePlaces(place, cursor) > 0);
  return next < 0 ? pairs.length : next;
}

function placeAt(cursor: string, argument: string): SensorPlace {
  return decodeCursor(list, cursor, argument, (position) => {
    if (!Array.isArray(position) || position.length !== 3) return null;
    const [stationCode, networkCode, key] = position as unknown[];
    if (typeof stationCode !== 'string' || typeof networkCode !== 'string' || typeof key !== 'string')
      return null;
    return { stationCode, networkCode, key };
  });
}

function unavailableSource(source: Source, failure: unknown): UnavailableSource {
  if (!(failure instanceof GatewayError)) throw failure;
  const { code, message, retryAfterS } = failure;
  return { source, code, message, retryAfterS: retryAfterS ?? null };
}

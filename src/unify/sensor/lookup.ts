import { BadUserInput, notConfigured } from '../../errors.js';
import { type Maybe, promised, whenKnown } from '../../maybe.js';
import type { WireSensor as CatalogueSensor } from '../../upstream/catalogue/wire.js';
import { asId, type CatalogueSensorId, type DeviceId, known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { derived } from '../derived.js';
import { networkCodeOf } from '../network/code-lookup.js';
import { sensorDetail } from './detail.js';
import { deviceIdOf, type Pair } from './identity.js';
import { createInventory } from './inventory/inventory.js';
import { type UnifiedSensors, unifySensors } from './inventory/merging.js';
import { projectSensor, projectSensorAt } from './inventory/project-sensors.js';
import type { Listed } from './inventory/reading.js';
import { stationOf } from './order.js';
import { type Sensor, sensorOf } from './sensor.js';
import type { Side } from './side.js';

/** Exactly one way to identify a sensor. `key` is the part of its global id after the type. */
export type SensorLookup =
  | { readonly key: string }
  | { readonly deviceId: DeviceId }
  | { readonly catalogueId: CatalogueSensorId }
  | { readonly stationCode: string }
  | { readonly station: Station };

export interface Station {
  readonly stationCode: string;
  readonly networkCode: string;
}

/**
 * Null when there is no such sensor.
 * @throws the failure of an interface that cannot answer and may have the sensor, since null could be wrong;
 * BadUserInput when two networks have a sensor of this station code
 */
export function readSensor(ctx: UnifyContext, lookup: SensorLookup): Maybe<Sensor | null> {
  if ('key' in lookup) return byKey(ctx, lookup.key);
  if ('deviceId' in lookup) return byDeviceId(ctx, lookup.deviceId);
  if ('catalogueId' in lookup) return byCatalogueId(ctx, lookup.catalogueId);
  if ('stationCode' in lookup) return byStationCode(ctx, lookup.stationCode);
  return sensorByStation(ctx, lookup.station);
}

/** The project's sensor with this Device ID, in any spelling; null when the project has none. Batched. */
export function sensorByDeviceId(ctx: UnifyContext, deviceId: DeviceId): Maybe<Sensor | null> {
  return whenKnown(
    projectSensor(ctx, deviceId),
    (record) => record && sensorOf(ctx, { project: { record } }),
  );
}

/** The sensor of a change with its present values, or with those of the change where it cannot be read. */
export async function sensorNow(ctx: UnifyContext, { project, catalogue }: Pair): Promise<Sensor> {
  if (!project) return sensorOf(ctx, { catalogue: { record: catalogue } });
  const now = await promised(() => sensorByDeviceId(ctx, project.value.device_id)).catch(() => null);
  return now ?? sensorOf(ctx, { project: { record: project } });
}

/** Looks up by both codes, which together identify at most one sensor. */
async function sensorByStation(ctx: UnifyContext, station: Station): Promise<Sensor | null> {
  const { stationCode, networkCode } = station;
  const record = await projectSensorAt(ctx, stationCode, networkCode).catch(() =>
    ctx.scope.signal.throwIfAborted(),
  );
  if (record) return sensorOf(ctx, { project: { record } });
  const unified = await unifySensors(ctx);
  for (const pair of pairsAt(unified, stationCode)) {
    if ((await codeOf(ctx, pair)) === networkCode) return pairSensor(ctx, pair, unified);
  }
  throwIfIncomplete(unified);
  return null;
}

/**
 * All sensors that either interface has under this station code, in any network: an arrival names its station without a
 * network. A sensor that has moved is found under its new code and under the code that the catalogue still has.
 */
export async function sensorsOfStationCode(
  ctx: UnifyContext,
  stationCode: string,
): Promise<readonly Sensor[]> {
  const unified = await unifySensors(ctx);
  return unified.association.pairs
    .filter(
      ({ project, catalogue }) =>
        known(project?.value.station) === stationCode || known(catalogue?.value.station_code) === stationCode,
    )
    .map((pair) => pairSensor(ctx, pair, unified));
}

/** A sensor of the two lists. A side that is missing from an incomplete list counts as unknown, not as absent. */
export function pairSensor(
  ctx: UnifyContext,
  { project, catalogue, isNamesake }: Pair,
  lists: Pick<UnifiedSensors, 'project' | 'catalogue'>,
  isListed = false,
): Sensor {
  return sensorOf(ctx, {
    project: ctx.project ? sideOf(project, lists.project) : { record: null },
    catalogue: ctx.catalogue ? sideOf(catalogue, lists.catalogue) : { record: null },
    isListed,
    isNamesake,
  });
}

function sideOf<R>(record: R | null, list: Listed<unknown> | null): Side<R> | undefined {
  if (record || list?.complete) return { record };
  return list?.failure ? { failure: list.failure } : undefined;
}

async function byKey(ctx: UnifyContext, key: string): Promise<Sensor | null> {
  if (key.startsWith('c:')) return byCatalogueId(ctx, asId(key.slice(2)));
  if (key.startsWith('p:')) return byDeviceId(ctx, asId(key.slice(2)));
  if (deviceIdOf(key) === null) return null;
  let failure: unknown;
  if (ctx.project) {
    try {
      const sensor = await sensorByDeviceId(ctx, asId(key));
      if (sensor) return sensor;
    } catch (error) {
      ctx.scope.signal.throwIfAborted();
      failure = error;
    }
  }
  // A catalogue-only sensor has its serial number as key; the catalogue has no look-up by it, so its list is searched.
  const withKey = ({ records }: Listed<CatalogueSensor>) =>
    [...records.values()].filter(({ value }) => deviceIdOf(value.serial_number) === key);
  const listed = await ctx
    .tracked(createInventory)
    .catalogue?.read(ctx, { enough: (sofar) => withKey(sofar).length > 0 });
  // Among equal serial numbers the lowest id comes first: it is the one that is not a namesake.
  const [record] = (listed ? withKey(listed) : []).sort((a, b) => (a.value.id < b.value.id ? -1 : 1));
  if (record) {
    return sensorOf(ctx, { project: failure ? { failure } : { record: null }, catalogue: { record } });
  }
  if (failure) throw failure;
  if (listed?.failure) throw listed.failure;
  return null;
}

function byDeviceId(ctx: UnifyContext, deviceId: DeviceId): Maybe<Sensor | null> {
  if (!ctx.project) throw notConfigured('PROJECT');
  return sensorByDeviceId(ctx, deviceId);
}

async function byCatalogueId(ctx: UnifyContext, catalogueId: CatalogueSensorId): Promise<Sensor | null> {
  const list = ctx.tracked(createInventory).catalogue;
  if (!list) throw notConfigured('CATALOGUE');
  const listed = await list.find(ctx, ({ id }) => id === catalogueId);
  const pair = listed && (await pairOf(ctx, catalogueId));
  if (pair) return pair;
  const record =
    listed ??
    (await sensorDetail(ctx, catalogueId).catch((error: unknown) =>
      list.older(ctx, ({ id }) => id === catalogueId, error),
    ));
  return record && sensorOf(ctx, { catalogue: { record } });
}

/** The merged sensor, where both lists are cached; null otherwise. */
async function pairOf(ctx: UnifyContext, catalogueId: CatalogueSensorId): Promise<Sensor | null> {
  const unified = await unifySensors(ctx, { project: false, catalogue: false });
  const pair = unified.association.byCatalogueId.get(catalogueId);
  return pair ? pairSensor(ctx, pair, unified) : null;
}

function byStationCode(ctx: UnifyContext, stationCode: string): Maybe<Sensor | null> {
  return whenKnown(unifySensors(ctx), (unified) => {
    const pairs = pairsAt(unified, stationCode);
    const [pair] = pairs;
    return pair && pairs.length === 1
      ? pairSensor(ctx, pair, unified)
      : noneOrMany(ctx, stationCode, unified);
  });
}

async function noneOrMany(
  ctx: UnifyContext,
  stationCode: string,
  unified: UnifiedSensors,
): Promise<Sensor | null> {
  const pairs = pairsAt(unified, stationCode);
  if (pairs.length > 0) throw await ambiguous(ctx, stationCode, pairs);
  if (unified.project?.failure) {
    // Where the budget does not suffice for the whole list, a single read may still find the sensor.
    const record = await projectSensorAt(ctx, stationCode);
    if (record) return sensorOf(ctx, { project: { record } });
  }
  throwIfIncomplete(unified);
  return null;
}

async function ambiguous(
  ctx: UnifyContext,
  stationCode: string,
  pairs: readonly Pair[],
): Promise<BadUserInput> {
  const networks = await Promise.all(
    pairs.map(
      async (pair) => (await codeOf(ctx, pair).catch(() => null)) ?? known(pair.catalogue?.value.network_id),
    ),
  );
  const names = networks.map((network) => network ?? 'an unnamed one').sort();
  return new BadUserInput(
    `Station code ${JSON.stringify(stationCode)} is used in ${names.length} networks: ${names.join(', ')}. ` +
      'Use `station` with the network code',
    { argument: 'by.stationCode' },
  );
}

function pairsAt({ association }: UnifiedSensors, stationCode: string): readonly Pair[] {
  return byStation(association).get(stationCode) ?? [];
}

const byStation = derived((association: UnifiedSensors['association']) => {
  const stations = new Map<string, Pair[]>();
  for (const pair of association.pairs) {
    const station = stationOf(pair);
    const there = stations.get(station);
    if (there) there.push(pair);
    else stations.set(station, [pair]);
  }
  return stations;
});

/** The merged network code; learnt with a request where the project has none. */
async function codeOf(ctx: UnifyContext, { project, catalogue }: Pair): Promise<string | null> {
  const own = known(project?.value.network);
  if (own !== null || !catalogue) return own;
  return networkCodeOf(ctx, catalogue.value);
}

function throwIfIncomplete({ project, catalogue }: UnifiedSensors): void {
  for (const listed of [project, catalogue]) if (listed?.failure) throw listed.failure;
}

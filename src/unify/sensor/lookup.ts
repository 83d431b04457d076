import { BadUserInput, notConfigured } from '../../errors.js';
import { type Maybe, whenKnown } from '../../maybe.js';
import type { WireSensor as CatalogueSensor } from '../../upstream/catalogue/wire.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { derived } from '../derived.js';
import { networkCodeOf } from '../network/code-lookup.js';
import { sensorDetail } from './detail.js';
import { deviceIdOf, type Pair } from './identity.js';
import { createInventory } from './inventory/inventory.js';
import { type UnifiedSensors, unifySensors } from './inventory/merging.js';
import { projectSensorAt } from './inventory/project-sensors.js';
import type { Listed } from './inventory/reading.js';
import { stationOf } from './order.js';
import { type Sensor, sensorByDeviceId, sensorOf } from './sensor.js';
import type { Side } from './side.js';

/** Exactly one. `key` is the part of a sensor's global id behind its type. */
export type SensorLookup =
  | { readonly key: string }
  | { readonly deviceId: string }
  | { readonly catalogueId: string }
  | { readonly stationCode: string }
  | { readonly station: Station };

export interface Station {
  readonly stationCode: string;
  readonly networkCode: string;
}

/**
 * Null when there is no such sensor. Where an interface that might know it cannot answer, its failure instead of a null
 * that may be wrong. @throws BadUserInput when two networks have a sensor of this station code
 */
export function readSensor(ctx: UnifyContext, lookup: SensorLookup): Maybe<Sensor | null> {
  if ('key' in lookup) return byKey(ctx, lookup.key);
  if ('deviceId' in lookup) return byDeviceId(ctx, lookup.deviceId);
  if ('catalogueId' in lookup) return byCatalogueId(ctx, lookup.catalogueId);
  if ('stationCode' in lookup) return byStationCode(ctx, lookup.stationCode);
  return sensorByStation(ctx, lookup.station);
}

/** By both codes, which are never two sensors' at a time. */
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
 * All sensors that either interface has under this station code, in any network: what an arrival means, whose station
 * comes without a network. One that has moved is found under the code that the catalogue still has for it as well.
 */
export async function sensorsOfStationCode(
  ctx: UnifyContext,
  stationCode: string,
): Promise<readonly Sensor[]> {
  const unified = await unifySensors(ctx);
  return unified.pairing.pairs
    .filter(
      ({ project, catalogue }) =>
        known(project?.value.station) === stationCode || known(catalogue?.value.station_code) === stationCode,
    )
    .map((pair) => pairSensor(ctx, pair, unified));
}

/** A sensor of the two lists. A half that is missing because its list is not whole is not taken for absent. */
export function pairSensor(
  ctx: UnifyContext,
  { project, catalogue, isNamesake }: Pair,
  lists: Pick<UnifiedSensors, 'project' | 'catalogue'>,
  isListed = false,
): Sensor {
  return sensorOf(ctx, {
    project: ctx.project ? halfOf(project, lists.project) : { record: null },
    catalogue: ctx.catalogue ? halfOf(catalogue, lists.catalogue) : { record: null },
    isListed,
    isNamesake,
  });
}

function halfOf<R>(record: R | null, list: Listed<unknown> | null): Side<R> | undefined {
  if (record || list?.complete) return { record };
  return list?.failure ? { failure: list.failure } : undefined;
}

async function byKey(ctx: UnifyContext, key: string): Promise<Sensor | null> {
  if (key.startsWith('c:')) return byCatalogueId(ctx, key.slice(2));
  if (key.startsWith('p:')) return byDeviceId(ctx, key.slice(2));
  if (deviceIdOf(key) === null) return null;
  let failure: unknown;
  if (ctx.project) {
    try {
      const sensor = await sensorByDeviceId(ctx, key);
      if (sensor) return sensor;
    } catch (error) {
      ctx.scope.signal.throwIfAborted();
      failure = error;
    }
  }
  // A sensor of the catalogue alone goes by its serial number, for which its list has to be looked through.
  const bearers = ({ records }: Listed<CatalogueSensor>) =>
    [...records.values()].filter(({ value }) => deviceIdOf(value.serial_number) === key);
  const listed = await ctx
    .tracked(createInventory)
    .catalogue?.read(ctx, { enough: (sofar) => bearers(sofar).length > 0 });
  // Of several the one that is not a namesake.
  const [record] = (listed ? bearers(listed) : []).sort((a, b) => (a.value.id < b.value.id ? -1 : 1));
  if (record) {
    return sensorOf(ctx, { project: failure ? { failure } : { record: null }, catalogue: { record } });
  }
  if (failure) throw failure;
  if (listed?.failure) throw listed.failure;
  return null;
}

function byDeviceId(ctx: UnifyContext, deviceId: string): Maybe<Sensor | null> {
  if (!ctx.project) throw notConfigured('PROJECT');
  return sensorByDeviceId(ctx, deviceId);
}

async function byCatalogueId(ctx: UnifyContext, catalogueId: string): Promise<Sensor | null> {
  const list = ctx.tracked(createInventory).catalogue;
  if (!list) throw notConfigured('CATALOGUE');
  const listed = await list.find(ctx, ({ id }) => id === catalogueId);
  const pair = listed && (await pairOf(ctx, catalogueId));
  if (pair) return pair;
  const record =
    listed ??
    (await list.orOlder(
      ctx,
      ({ id }) => id === catalogueId,
      () => sensorDetail(ctx, catalogueId),
    ));
  return record && sensorOf(ctx, { catalogue: { record } });
}

/** As the list shows it, where both lists are known. */
async function pairOf(ctx: UnifyContext, catalogueId: string): Promise<Sensor | null> {
  const unified = await unifySensors(ctx, { project: false, catalogue: false });
  const pair = unified.pairing.byCatalogueId.get(catalogueId);
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
    // A list that is too long for the budget of the moment does not hide the one sensor that was asked for.
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

function pairsAt({ pairing }: UnifiedSensors, stationCode: string): readonly Pair[] {
  return byStation(pairing).get(stationCode) ?? [];
}

const byStation = derived((pairing: UnifiedSensors['pairing']) => {
  const stations = new Map<string, Pair[]>();
  for (const pair of pairing.pairs) {
    const station = stationOf(pair);
    const there = stations.get(station);
    if (there) there.push(pair);
    else stations.set(station, [pair]);
  }
  return stations;
});

/** The merged network code, learnt where only the catalogue has the sensor. */
async function codeOf(ctx: UnifyContext, { project, catalogue }: Pair): Promise<string | null> {
  const own = known(project?.value.network);
  if (own !== null || !catalogue) return own;
  return networkCodeOf(ctx, catalogue.value);
}

function throwIfIncomplete({ project, catalogue }: UnifiedSensors): void {
  for (const listed of [project, catalogue]) if (listed?.failure) throw listed.failure;
}

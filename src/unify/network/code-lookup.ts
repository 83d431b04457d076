import DataLoader from 'dataloader';
import type { Maybe } from '../../maybe.js';
import type { WireSensor } from '../../upstream/catalogue/wire.js';
import { asId, type CatalogueSensorId, known, type NetworkId } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { sensorDetail } from '../sensor/detail.js';
import { createInventory } from '../sensor/inventory/inventory.js';
import { codeKeyOf, createNetworkCodes } from './code.js';

/**
 * The seismic code of a network, from the detail of one of its sensors (docs/behaviour.md 6.1). Costs one request for
 * the detail, and another to find a sensor where none is known yet; the result is remembered for a day.
 */
export function learnNetworkCode(ctx: UnifyContext, networkId: NetworkId): Promise<string | null> {
  return ctx.once(createLoader).load(networkId);
}

/** The network code of a catalogue sensor; costs requests as `learnNetworkCode` where it is not known. */
export function networkCodeOf(
  ctx: UnifyContext,
  sensor: Pick<WireSensor, 'id' | 'network_id'>,
): Maybe<string | null> {
  const key = codeKeyOf(sensor);
  const code = ctx.tracked(createNetworkCodes).ofNoted(ctx, key);
  if (code !== undefined) return code;
  const networkId = known(sensor.network_id);
  if (networkId !== null) return learnNetworkCode(ctx, asId(networkId));
  return learnFrom(ctx, key, [sensor.id]);
}

// Sensors tried per network: one may lack the code while another has it, but a network without a code must not cost a
// request for each of its sensors.
const samples = 3;

const createLoader = (ctx: UnifyContext) =>
  new DataLoader((networkIds: readonly NetworkId[]) => learnAll(ctx, networkIds));

async function learnAll(
  ctx: UnifyContext,
  networkIds: readonly NetworkId[],
): Promise<readonly (string | null | Error)[]> {
  const codes = ctx.tracked(createNetworkCodes);
  const wanted = networkIds.filter((networkId) => codes.ofNoted(ctx, networkId) === undefined);
  const sensors = await sensorsOf(ctx, wanted);
  return Promise.all(
    networkIds.map(async (networkId) => {
      const code = codes.ofNoted(ctx, networkId);
      if (code !== undefined) return code;
      return learnOne(ctx, networkId, sensors.get(networkId) ?? []).catch((error: Error) => error);
    }),
  );
}

/**
 * Up to `samples` sensors of each network, from the list of all sensors where it is cached or costs no more requests.
 */
async function sensorsOf(
  ctx: UnifyContext,
  networkIds: readonly NetworkId[],
): Promise<ReadonlyMap<NetworkId, readonly CatalogueSensorId[]>> {
  const found = new Map<NetworkId, CatalogueSensorId[]>();
  const list = ctx.tracked(createInventory).catalogue;
  if (!list || networkIds.length === 0) return found;
  if (!list.available(ctx) && networkIds.length < 2) return found;
  const wanted = new Set(networkIds);
  const listed = await list.read(ctx, {
    enough: ({ records, pagesLeft }) => {
      const networksFound = new Set<string>();
      for (const { value } of records.values()) {
        const networkId = networkOf(value);
        if (networkId !== null && wanted.has(networkId)) networksFound.add(networkId);
      }
      return networksFound.size === wanted.size || (pagesLeft ?? 0) > wanted.size - networksFound.size;
    },
  });
  for (const { value } of listed.records.values()) {
    const networkId = networkOf(value);
    if (networkId === null || !wanted.has(networkId)) continue;
    const sample = found.get(networkId) ?? [];
    if (sample.length < samples) found.set(networkId, [...sample, value.id]);
  }
  return found;
}

function networkOf({ network_id }: Pick<WireSensor, 'network_id'>): NetworkId | null {
  const id = known(network_id);
  return id === null ? null : asId(id);
}

async function learnOne(
  ctx: UnifyContext,
  networkId: NetworkId,
  known: readonly CatalogueSensorId[],
): Promise<string | null> {
  if (known.length > 0) return learnFrom(ctx, networkId, known);
  const page = await ctx.catalogue?.sensors({ networkId, page: 1, limit: samples }, ctx.scope);
  return learnFrom(
    ctx,
    networkId,
    (page?.value.items ?? []).map((sensor) => sensor.id),
  );
}

async function learnFrom(
  ctx: UnifyContext,
  key: string,
  sensorIds: readonly CatalogueSensorId[],
): Promise<string | null> {
  const codes = ctx.perTenant(createNetworkCodes);
  for (const sensorId of sensorIds) {
    const detail = await sensorDetail(ctx, sensorId);
    const code = detail && known(detail.value.network_code);
    if (!code) continue;
    codes.learn(key, code);
    return code;
  }
  codes.learn(key, null);
  return null;
}

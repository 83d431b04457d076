import DataLoader from 'dataloader';
import type { ForwardMs } from '../../../clock.js';
import type { Maybe } from '../../../maybe.js';
import { freshMs as lifetimesMs } from '../../../upstream/cache/freshness.js';
import { type DeviceId, known } from '../../../upstream/decode/fields.js';
import type { WireSensor as ProjectSensor } from '../../../upstream/project/wire.js';
import type { UnifyContext } from '../../context.js';
import { type DeviceKey, deviceKey, deviceKeyOf, type ProjectRecord } from '../identity.js';
import { createInventory } from './inventory.js';
import type { Listed } from './reading.js';

/**
 * The project's record of a sensor by Device ID in any spelling; null when the project has none. Look-ups of one
 * operation are batched and read with single reads or list pages, whichever takes fewer requests
 * (docs/behaviour.md 5.4).
 */
export function projectSensor(ctx: UnifyContext, deviceId: DeviceId): Maybe<ProjectRecord | null> {
  const key = deviceKeyOf(deviceId);
  // A record in the cached list needs no request, so it does not wait for the batch.
  const listed = ctx.tracked(createInventory).project?.now(ctx)?.records.get(key);
  return listed ?? ctx.once(createLoader).load(key);
}

/** As `projectSensor`, but past the records that this operation has already read: use it when one was outdated. */
export function projectSensorAgain(ctx: UnifyContext, deviceId: DeviceId): Promise<ProjectRecord | null> {
  return ctx.once(createSecondLoader).load(deviceKeyOf(deviceId));
}

/**
 * One of the project's sensors of this station code, in this network if one is given; one request at most. The endpoint
 * takes a Device ID in the same path segment, so a sensor found by its Device ID is rejected.
 */
export async function projectSensorAt(
  ctx: UnifyContext,
  stationCode: string,
  networkCode?: string,
): Promise<ProjectRecord | null> {
  const matches = ({ station, network }: ProjectSensor) =>
    known(station) === stationCode && (networkCode === undefined || known(network) === networkCode);
  const listed = await ctx.tracked(createInventory).project?.find(ctx, matches);
  if (listed !== undefined) return listed;
  const record = await readOrOlder(ctx, stationCode, matches);
  return record && matches(record.value) ? record : null;
}

const createLoader = (ctx: UnifyContext) => loaderOf(ctx);
const createSecondLoader = (ctx: UnifyContext) => loaderOf(ctx);

function loaderOf(ctx: UnifyContext): DataLoader<DeviceKey, ProjectRecord | null> {
  return new DataLoader((keys) => readAll(ctx, keys));
}

// A list at most this old proves that a sensor which is not in it does not exist.
const freshMs = lifetimesMs.sensor;
// Where the list cannot be read, up to so many sensors are still read one by one.
const fewSingleReads = 3;

async function readAll(
  ctx: UnifyContext,
  keys: readonly DeviceKey[],
): Promise<readonly (ProjectRecord | null | Error)[]> {
  if (!ctx.project) return keys.map(() => null);
  const found = new Map<DeviceKey, ProjectRecord | null | Error>();
  const missing = () => keys.filter((key) => !found.has(key));
  await fromList(ctx, missing, found);
  await Promise.all(
    missing().map(async (key) => found.set(key, await readOne(ctx, key).catch((error: Error) => error))),
  );
  return keys.map((key) => found.get(key) ?? null);
}

/** Takes records from the list, and reads further pages as long as that is cheaper than single reads. */
async function fromList(
  ctx: UnifyContext,
  missing: () => readonly DeviceKey[],
  found: Map<DeviceKey, ProjectRecord | null | Error>,
): Promise<void> {
  const list = ctx.tracked(createInventory).project;
  const expectedReads = missing().length + recentSingleReads(ctx, missing());
  if (!list || (!list.available(ctx) && (expectedReads < 2 || list.expectedPages > expectedReads))) return;
  const take = ({ records }: { readonly records: ReadonlyMap<string, ProjectRecord> }) => {
    for (const key of missing()) {
      const record = records.get(key);
      if (record) found.set(key, record);
    }
    return missing().length;
  };
  const isTooExpensive = (listed: Listed<ProjectSensor>) => (listed.pagesLeft ?? 0) > take(listed);
  const options = {
    enough: (listed: Listed<ProjectSensor>) => take(listed) === 0 || isTooExpensive(listed),
    goOn: (listed: Listed<ProjectSensor>) => !isTooExpensive(listed),
  };
  let listed = await list.read(ctx, options);
  const isStale = ctx.clock.now() - listed.readAtMs > freshMs;
  // A sensor missing from a stale list may be new. The list is being revalidated anyway, so waiting costs no request.
  if (take(listed) >= listed.pages && listed.complete && isStale) {
    listed = await list.read(ctx, { ...options, maxAgeMs: freshMs });
  }
  const left = take(listed);
  if (left === 0) return;
  if (listed.complete && listed.dropped === 0 && ctx.clock.now() - listed.readAtMs <= freshMs) {
    for (const key of missing()) found.set(key, null);
  } else if (listed.failure instanceof Error && left > fewSingleReads) {
    for (const key of missing()) found.set(key, listed.failure);
  }
}

/**
 * Number of sensors that other operations have just read singly. In an earthquake a live feed asks for its sensors one
 * by one, and from some number on the list is cheaper.
 */
function recentSingleReads(ctx: UnifyContext, keys: readonly DeviceKey[]): number {
  const singles = ctx.perTenant(createSingles);
  const sinceMs = ctx.clock.now() - freshMs;
  for (const [key, readAtMs] of singles) if (readAtMs < sinceMs) singles.delete(key);
  return [...singles.keys()].filter((key) => !keys.includes(key)).length;
}

const createSingles = () => new Map<DeviceKey, ForwardMs>();

async function readOne(ctx: UnifyContext, key: DeviceKey): Promise<ProjectRecord | null> {
  ctx.perTenant(createSingles).set(key, ctx.clock.now());
  const matches = ({ device_id }: ProjectSensor) => deviceKeyOf(device_id) === key;
  const record = await readOrOlder(ctx, key, matches);
  // A station code can look like a Device ID.
  return record && deviceKey(record) === key ? record : null;
}

async function readOrOlder(
  ctx: UnifyContext,
  id: string,
  matches: (sensor: ProjectSensor) => boolean,
): Promise<ProjectRecord | null> {
  const { project } = ctx;
  const list = ctx.tracked(createInventory).project;
  if (!project || !list) return null;
  return project.sensor(id, ctx.scope).catch((error: unknown) => list.older(ctx, matches, error));
}

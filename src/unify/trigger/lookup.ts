import DataLoader from 'dataloader';
import { Forbidden } from '../../errors.js';
import type { DeviceId } from '../../upstream/decode/fields.js';
import { unreadableRecords } from '../../upstream/decode/response.js';
import { largestPage } from '../../upstream/page-sizes.js';
import type { TriggerQuery } from '../../upstream/project/client.js';
import type { UnifyContext } from '../context.js';
import { earlier, later } from '../time/instant.js';
import { boundsOf } from './list/bounds.js';
import { projectTriggers, scanTriggers } from './list/scan.js';
import { parseTriggerKey, type Trigger, type TriggerKey, triggersOf } from './record.js';

/** The trigger of a key (`Trigger.key`); null when it does not exist or the text is not a key. One upstream request. */
export function readTrigger(ctx: UnifyContext, key: string): Promise<Trigger | null> {
  const parsed = parseTriggerKey(key);
  return parsed ? ctx.once(createLoader).load(parsed) : Promise.resolve(null);
}

function createLoader(ctx: UnifyContext): DataLoader<TriggerKey, Trigger | null, string> {
  return new DataLoader((keys) => readAll(ctx, keys), {
    cacheKeyFn: ({ triggerId, deviceId }) => JSON.stringify([triggerId, deviceId]),
  });
}

async function readAll(ctx: UnifyContext, keys: readonly TriggerKey[]): Promise<(Trigger | null | Error)[]> {
  const found = new Map<string, Trigger>();
  // Triggers that feeds have just delivered, and closed ones that were read before, need no request.
  const toRead = keys.filter(
    (key) => !ctx.project?.hasTriggersAtHand(momentOf(key, key.deviceId), ctx.scope),
  );
  const isWhole = toRead.length > 1 && (await readTogether(ctx, toRead, found));
  const isAbsent = new Set(isWhole ? toRead : []);
  return Promise.all(
    keys.map((key) => {
      const trigger = found.get(key.triggerId);
      if (trigger || isAbsent.has(key)) return trigger ?? null;
      return readAlone(ctx, key).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      );
    }),
  );
}

// Triggers close in time often lie on one or a few pages of the list. The count that comes with the first page shows if
// reading on costs less than one request per trigger. True when the whole range was read, and all of it can be.
async function readTogether(
  ctx: UnifyContext,
  keys: readonly TriggerKey[],
  found: Map<string, Trigger>,
): Promise<boolean> {
  const times = keys.map((key) => key.startTime);
  const oneDevice = keys.every((key) => key.deviceId === keys[0]?.deviceId);
  const scan = {
    read: projectTriggers(ctx),
    order: 'asc' as const,
    from: times.reduce(earlier),
    to: times.reduce(later),
    deviceId: oneDevice ? keys[0]?.deviceId : undefined,
    wanted: Number.POSITIVE_INFINITY,
  };
  const first = await scanTriggers({ ...scan, after: null, mostRequests: 1 });
  for (const { trigger } of first.triggers) found.set(trigger.triggerId, trigger);
  const missing = keys.filter((key) => !found.has(key.triggerId)).length;
  if (missing === 0 || !first.more) return first.unreadable === 0;
  const pagesLeft =
    first.total === null ? Number.POSITIVE_INFINITY : Math.ceil(first.total / largestPage.project) - 1;
  if (pagesLeft >= missing) return false;
  const rest = await scanTriggers({ ...scan, after: first.reached, mostRequests: pagesLeft + 1 });
  for (const { trigger } of rest.triggers) found.set(trigger.triggerId, trigger);
  return !rest.more && first.unreadable + rest.unreadable === 0;
}

async function readAlone(ctx: UnifyContext, key: TriggerKey): Promise<Trigger | null> {
  const read = projectTriggers(ctx);
  const readFrom = async (deviceId: DeviceId | undefined) => {
    const page = await read(momentOf(key, deviceId));
    const trigger = triggersOf(page).find(({ triggerId }) => triggerId === key.triggerId);
    // A record that cannot be read exists all the same (docs/behaviour.md 5.12).
    if (!trigger && page.value.unreadable?.includes(key.triggerId)) throw unreadableRecords('PROJECT', 1);
    return trigger ?? null;
  };
  try {
    return await readFrom(key.deviceId);
  } catch (error) {
    // Assumed: upstream may not find the Device ID of a sensor that moved to another project, though it still lists its
    // triggers (docs/interfaces.md P2, `station`).
    if (error instanceof Forbidden && error.upstream?.status === 404) return readFrom(undefined);
    throw error;
  }
}

// One moment of one sensor: closed triggers are immutable (docs/behaviour.md 5.5) and not read again.
function momentOf({ startTime }: TriggerKey, deviceId: DeviceId | undefined): TriggerQuery {
  const bounds = boundsOf({ order: 'asc', from: startTime, to: startTime, deviceId }, null);
  return { ...bounds, order: 'asc', limit: largestPage.project, offset: 0 };
}

import DataLoader from 'dataloader';
import type { UnifyContext } from '../../context.js';
import { serialKey } from '../../sensor/identity.js';
import { behind } from './position.js';
import { type ScannedTriggers, scanTriggers, type TriggerScan } from './scan.js';

interface Asked {
  readonly walk: TriggerScan;
  /** The same for those that ask the same of different sensors. */
  readonly question: string;
}

// One page for all costs less than one for each from here on, even when it does not hold enough for some of them.
const together = 3;

/**
 * Triggers of one sensor out of a page of all sensors', when several sensors are asked for the same at a time: their
 * latest triggers lie on one page often enough. Null where the page does not hold enough of this sensor, or there is no
 * one to share it with.
 */
export function scanTogether(
  ctx: UnifyContext,
  walk: TriggerScan,
  { filter, ...list }: { readonly filter: object; readonly after?: string | null | undefined },
): Promise<ScannedTriggers | null> {
  if (walk.after !== null) return Promise.resolve(null);
  const question = JSON.stringify([{ ...filter, deviceId: null }, list]);
  return ctx.once(createLoader).load({ walk, question });
}

function createLoader(): DataLoader<Asked, ScannedTriggers | null> {
  return new DataLoader(
    (asked) => {
      const groups = new Map<string, { count: number; page?: Promise<ScannedTriggers> }>();
      for (const { question } of asked) {
        groups.set(question, { count: (groups.get(question)?.count ?? 0) + 1 });
      }
      return Promise.all(
        asked.map(async ({ walk, question }) => {
          const group = groups.get(question);
          if (!group || group.count < together) return null;
          group.page ??= firstPage(walk);
          return group.page.then(
            (page) => ofSensor(walk, page),
            (error: Error) => error,
          );
        }),
      );
    },
    { cache: false, maxBatchSize: Number.POSITIVE_INFINITY },
  );
}

function firstPage(walk: TriggerScan): Promise<ScannedTriggers> {
  const everyone = { deviceId: undefined, keep: undefined, wanted: Number.POSITIVE_INFINITY };
  return scanTriggers({ ...walk, ...everyone, mostRequests: 1 });
}

function ofSensor(walk: TriggerScan, page: ScannedTriggers): ScannedTriggers | null {
  const device = serialKey(walk.deviceId ?? null);
  const own = page.triggers.filter(({ trigger }) => serialKey(trigger.deviceId) === device);
  const kept = own.filter(({ trigger }) => walk.keep?.(trigger) !== false);
  if (page.more && kept.length <= walk.wanted) return null;
  return {
    triggers: kept.slice(0, walk.wanted).map(({ trigger }) => ({ trigger, position: behind(trigger, null) })),
    more: kept.length > walk.wanted,
    reached: null,
    total: page.more ? null : own.length,
    readAtMs: page.readAtMs,
  };
}

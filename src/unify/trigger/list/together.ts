import DataLoader from 'dataloader';
import type { UnifyContext } from '../../context.js';
import { deviceKeyOf } from '../../sensor/identity.js';
import { behind } from './position.js';
import { type ScannedTriggers, scanTriggers, type TriggerScan } from './scan.js';

interface Asked {
  readonly scan: TriggerScan;
  /** Equal for scans that differ only in the sensor. */
  readonly question: string;
}

// From so many sensors on, one page of all sensors costs less than a page each, even if it is too short for some of
// them.
const together = 3;

/**
 * Triggers of one sensor from a page of all sensors, for several sensors that are asked for at the same time: their
 * latest triggers often lie on one page. Null when the page has too few of this sensor, or too few sensors are asked
 * for.
 */
export function scanTogether(
  ctx: UnifyContext,
  scan: TriggerScan,
  { filter, ...list }: { readonly filter: object; readonly after?: string | null | undefined },
): Promise<ScannedTriggers | null> {
  if (scan.after !== null) return Promise.resolve(null);
  const question = JSON.stringify([{ ...filter, deviceId: null }, list]);
  return ctx.once(createLoader).load({ scan, question });
}

function createLoader(): DataLoader<Asked, ScannedTriggers | null> {
  return new DataLoader(
    (asked) => {
      const groups = new Map<string, { count: number; page?: Promise<ScannedTriggers> }>();
      for (const { question } of asked) {
        groups.set(question, { count: (groups.get(question)?.count ?? 0) + 1 });
      }
      return Promise.all(
        asked.map(async ({ scan, question }) => {
          const group = groups.get(question);
          if (!group || group.count < together) return null;
          group.page ??= firstPage(scan);
          return group.page.then(
            (page) => ofSensor(scan, page),
            (error: Error) => error,
          );
        }),
      );
    },
    { cache: false },
  );
}

function firstPage(scan: TriggerScan): Promise<ScannedTriggers> {
  const everyone = { deviceId: undefined, keep: undefined, wanted: Number.POSITIVE_INFINITY };
  return scanTriggers({ ...scan, ...everyone, mostRequests: 1 });
}

function ofSensor(scan: TriggerScan, page: ScannedTriggers): ScannedTriggers | null {
  const device = scan.deviceId && deviceKeyOf(scan.deviceId);
  const own = page.triggers.filter(({ trigger }) => deviceKeyOf(trigger.deviceId) === device);
  const matching = own.filter(({ trigger }) => scan.keep?.(trigger) !== false);
  if (page.more && matching.length <= scan.wanted) return null;
  return {
    triggers: matching
      .slice(0, scan.wanted)
      .map(({ trigger }) => ({ trigger, position: behind(trigger, null) })),
    more: matching.length > scan.wanted,
    reached: null,
    total: page.more ? null : own.length,
    readAtMs: page.readAtMs,
    unreadable: page.unreadable,
  };
}

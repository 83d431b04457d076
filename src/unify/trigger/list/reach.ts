import { type ForwardMs, forever, longAgo, type UnixMs } from '../../../clock.js';
import type { ListReach } from '../../paging.js';
import { deviceKeyOf } from '../../sensor/identity.js';
import type { Trigger } from '../record.js';
import { isWithin, type TriggerScan } from './scan.js';

export function reachOf(
  scan: TriggerScan,
  listed: { readonly triggers: readonly Trigger[]; readonly more: boolean; readonly readAtMs: ForwardMs },
): ListReach<Trigger> {
  const device = scan.deviceId === undefined ? null : deviceKeyOf(scan.deviceId);
  const afterMs = afterOf(scan, listed.triggers, listed.more);
  return {
    readAtMs: listed.readAtMs,
    includes: (trigger) =>
      trigger.startTime.ms > afterMs &&
      isWithin(scan, trigger) &&
      (device === null || deviceKeyOf(trigger.deviceId) === device) &&
      scan.keep?.(trigger) !== false,
  };
}

/** All matching triggers that started later are in the list; infinite when it does not reach up to the newest. */
function afterOf({ order, after, to }: TriggerScan, triggers: readonly Trigger[], more: boolean): UnixMs {
  if (to) return forever;
  if (order === 'asc') return more ? forever : (after?.startTime.ms ?? longAgo);
  if (after) return forever;
  // Triggers of the last moment may continue on the next page.
  return more ? (triggers.at(-1)?.startTime.ms ?? forever) : longAgo;
}

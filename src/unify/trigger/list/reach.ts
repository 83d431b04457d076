import { type ForwardMs, longAgo, type UnixMs } from '../../../clock.js';
import { serialKey } from '../../sensor/identity.js';
import type { Trigger } from '../record.js';
import { isWithin, type TriggerScan } from './scan.js';

/** The range up to which a list is current, so that the live feed can continue from it. */
export interface TriggerReach {
  /** Read time of the oldest response of the list. */
  readonly readAtMs: ForwardMs;
  /** All matching triggers that started after this are in the list; null when it does not reach the newest. */
  readonly afterMs: UnixMs | null;
  /** True when the trigger belongs to the list or to another page of it. */
  matches(trigger: Trigger): boolean;
}

export function reachOf(
  scan: TriggerScan,
  listed: { readonly triggers: readonly Trigger[]; readonly more: boolean; readonly readAtMs: ForwardMs },
): TriggerReach {
  return {
    readAtMs: listed.readAtMs,
    afterMs: afterOf(scan, listed.triggers, listed.more),
    matches: (trigger) =>
      isWithin(scan, trigger) &&
      (scan.deviceId === undefined || serialKey(trigger.deviceId) === serialKey(scan.deviceId)) &&
      scan.keep?.(trigger) !== false,
  };
}

function afterOf(
  { order, after, to }: TriggerScan,
  triggers: readonly Trigger[],
  more: boolean,
): UnixMs | null {
  if (to) return null;
  if (order === 'asc') return more ? null : (after?.startTime.ms ?? longAgo);
  if (after) return null;
  // Triggers of the last moment may continue on the next page.
  return more ? (triggers.at(-1)?.startTime.ms ?? null) : longAgo;
}

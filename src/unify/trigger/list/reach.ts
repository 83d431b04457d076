import { serialKey } from '../../sensor/identity.js';
import type { Trigger } from '../record.js';
import { isWithin, type TriggerScan } from './scan.js';

/** How far a list tells the present, so that the live feed can go on from it. */
export interface TriggerReach {
  /** When the oldest of what it is made of was read. */
  readonly readAtMs: number;
  /** All that match and started after this are in the list; null when it does not reach up to the newest. */
  readonly afterMs: number | null;
  /** Whether the trigger, as it is, would be in the list or on another page of it. */
  matches(trigger: Trigger): boolean;
}

export function reachOf(
  walk: TriggerScan,
  listed: { readonly triggers: readonly Trigger[]; readonly more: boolean; readonly readAtMs: number },
): TriggerReach {
  return {
    readAtMs: listed.readAtMs,
    afterMs: afterOf(walk, listed.triggers, listed.more),
    matches: (trigger) =>
      isWithin(walk, trigger) &&
      (walk.deviceId === undefined || serialKey(trigger.deviceId) === serialKey(walk.deviceId)) &&
      walk.keep?.(trigger) !== false,
  };
}

function afterOf(
  { order, after, to }: TriggerScan,
  triggers: readonly Trigger[],
  more: boolean,
): number | null {
  if (to) return null;
  if (order === 'asc') return more ? null : (after?.startTime.ms ?? Number.NEGATIVE_INFINITY);
  if (after) return null;
  // What started at the very moment at which a page ends may be on the next.
  return more ? (triggers.at(-1)?.startTime.ms ?? null) : Number.NEGATIVE_INFINITY;
}

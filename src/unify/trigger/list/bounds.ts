import type { TriggerQuery } from '../../../upstream/project/client.js';
import { earlier, type Instant, later } from '../../time/instant.js';
import { atOrAfter, atOrBefore } from '../../time/millisecond.js';
import type { ScanOrder } from './position.js';

export interface TriggerRange {
  readonly order: ScanOrder;
  /** Both ends inclusive. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly deviceId?: string | undefined;
}

/** What is left of a range behind the time that a walk has reached. Null when nothing is: upstream would refuse it. */
export function boundsOf(
  { order, from, to, deviceId }: TriggerRange,
  pin: Instant | null,
): Pick<TriggerQuery, 'from' | 'to' | 'deviceId'> | null {
  const lower = order === 'asc' && pin ? later(pin, from ?? pin) : from;
  const upper = order === 'desc' && pin ? earlier(pin, to ?? pin) : to;
  if (lower && upper && lower.compare(upper) > 0) return null;
  return queryOf(lower, upper, deviceId);
}

function queryOf(
  lower: Instant | undefined,
  upper: Instant | undefined,
  deviceId: string | undefined,
): Pick<TriggerQuery, 'from' | 'to' | 'deviceId'> {
  // One moment is the same to the millisecond too, and what is asked of it is known by its two equal ends to be final.
  if (lower && upper && !lower.leap && lower.compare(upper) === 0) {
    return { from: lower.toString(), to: lower.toString(), deviceId };
  }
  return { from: lower && atOrBefore(lower), to: upper && atOrAfter(upper), deviceId };
}

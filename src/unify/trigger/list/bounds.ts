import type { DeviceId } from '../../../upstream/decode/fields.js';
import type { TriggerQuery } from '../../../upstream/project/client.js';
import { earlier, type Instant, later } from '../../time/instant.js';
import { atOrAfter, atOrBefore } from '../../time/millisecond.js';
import type { ScanOrder } from './position.js';

export interface TriggerRange {
  readonly order: ScanOrder;
  /** Both ends inclusive. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly deviceId?: DeviceId | undefined;
}

/** The part of a range behind the pinned time of a scan. Null when it is empty, which upstream would refuse. */
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
  deviceId: DeviceId | undefined,
): Pick<TriggerQuery, 'from' | 'to' | 'deviceId'> {
  // A single moment is sent with equal ends and all its digits; the response cache recognises it by them as immutable.
  if (lower && upper && !lower.leap && lower.compare(upper) === 0) {
    return { from: lower.toString(), to: lower.toString(), deviceId };
  }
  return { from: lower && atOrBefore(lower), to: upper && atOrAfter(upper), deviceId };
}

import type { SharedMs } from '../../../store/shared-time.js';
import { Instant } from '../../../unify/time/instant.js';
import type { MaybeInstant } from '../../../unify/time/wire-time.js';
import { type TriggerTraits, traitsOf } from '../../../unify/trigger/filter.js';
import type { Trigger } from '../../../unify/trigger/record.js';
import { known } from '../../../upstream/decode/fields.js';
import type { Change, Subject } from '../../tracking/change.js';

export type TriggerChangeKind = 'OPENED' | 'UPDATED' | 'CLOSED';
export type TriggerChange = Change<Trigger, TriggerChangeKind>;

/** docs/behaviour.md 9.1. A status other than open or closed is not final, and does not extend the look-back window. */
export const triggerSubject: Subject<Trigger, TriggerChangeKind> = {
  name: 'triggerChanges',
  source: 'PROJECT',
  idOf: (trigger) => trigger.triggerId,
  timeOf: (trigger) => trigger.startTime,
  readAtMs: (trigger) => trigger.readAtMs,
  fingerprintOf,
  isFinal: (trigger) => trigger.status === 'CLOSED',
  allEnd: true,
  isOpen: (trigger) => trigger.status === 'OPEN',
  kindOf(trigger, isKnown) {
    if (trigger.status === 'CLOSED') return 'CLOSED';
    return isKnown ? 'UPDATED' : 'OPENED';
  },
  isFolded: (kind) => kind === 'UPDATED',
  continues: () => null,
  isEarlier: () => false,
  wasShown: () => true,
  traitsOf: (trigger, before) => traitsOf(trigger, before as TriggerTraits | null),
  pack: (trigger, time) => ({ ...trigger, readAtMs: time.toShared(trigger.readAtMs) }),
  unpack(packed, time) {
    const trigger = packed as PackedTrigger;
    if (!(trigger.startTime instanceof Instant)) return null;
    return { ...trigger, readAtMs: time.toLocal(trigger.readAtMs) };
  },
};

interface PackedTrigger extends Omit<Trigger, 'readAtMs'> {
  readonly readAtMs: SharedMs;
}

function fingerprintOf(trigger: Trigger): string {
  return JSON.stringify([
    trigger.status,
    known(trigger.stationCode),
    known(trigger.locationName),
    timeText(trigger.startTime),
    timeText(trigger.endTime),
    timeText(trigger.peakTime),
    known(trigger.pgaHorizontalMg),
    known(trigger.pgaHneMg),
    known(trigger.pgaHnnMg),
    known(trigger.pgaHnzMg),
    known(trigger.pgvEhzMmPerS),
    known(trigger.peakEhzCounts),
    known(trigger.peakFrequencyHz),
  ]);
}

// The same instant with more or fewer trailing zeros is not a change.
function timeText(time: MaybeInstant): string | null {
  return time instanceof Instant
    ? `${time.unixS}${time.leap ? '+' : '.'}${time.digits.replace(/0+$/, '')}`
    : null;
}

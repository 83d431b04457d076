import { Instant } from '../../time/instant.js';
import { floorMs } from '../../time/millisecond.js';
import { compareTriggers, type Trigger } from '../record.js';

export type ScanOrder = 'asc' | 'desc';

/**
 * A position in the list of all triggers, in the order of a walk: behind `id` at `startTime`, or before all of that
 * moment where `id` is null. `besides` lie behind it at the same moment and have been delivered all the same: when a
 * page ends within a moment, finding out what else belongs to it would cost a request.
 */
export interface TriggerPosition {
  readonly startTime: Instant;
  readonly id: string | null;
  readonly besides: readonly string[];
}

/** Whether a trigger is still to come after `position`. */
export function isAhead(position: TriggerPosition | null, trigger: Trigger, order: ScanOrder): boolean {
  if (!position) return true;
  if (sameMoment(trigger, position) && position.besides.length > 0) {
    if (position.besides.includes(trigger.triggerId)) return false;
    // More of the moment may show up, also with digits that put it before what has been delivered: late beats never.
    if (position.id === null) return true;
  }
  const later = inOrder(order, trigger.startTime.compare(position.startTime));
  if (later !== 0) return later > 0;
  if (position.id === null) return true;
  return (
    inOrder(order, compareTriggers(trigger, { startTime: position.startTime, triggerId: position.id })) > 0
  );
}

/** Behind a trigger all of whose moment is known, coming from `before`. */
export function behind(trigger: Trigger, before: TriggerPosition | null): TriggerPosition {
  return {
    startTime: trigger.startTime,
    id: trigger.triggerId,
    besides: sameMoment(trigger, before) ? before.besides.filter((id) => id !== trigger.triggerId) : [],
  };
}

/** Behind triggers of one moment that may have more members than these, coming from `before`. */
export function behindSome(
  triggers: readonly Trigger[],
  before: TriggerPosition | null,
): TriggerPosition | null {
  const last = triggers.at(-1);
  if (!last) return before;
  const ids = triggers.map((trigger) => trigger.triggerId);
  return sameMoment(last, before)
    ? { ...before, besides: [...before.besides, ...ids] }
    : { startTime: last.startTime, id: null, besides: ids };
}

export function inOrder(order: ScanOrder, compared: number): number {
  return order === 'asc' ? compared : -compared;
}

/** What a cursor holds of a position, in JSON. */
export function encodePosition(position: TriggerPosition): unknown {
  const { startTime, id, besides } = position;
  return besides.length === 0 ? [startTime.toString(), id] : [startTime.toString(), id, besides];
}

/** Null when it is not what `encodePosition` made. */
export function decodePosition(value: unknown): TriggerPosition | null {
  if (!Array.isArray(value) || value.length < 2 || value.length > 3) return null;
  const [time, id, besides = []] = value as unknown[];
  const startTime = typeof time === 'string' ? Instant.parse(time) : null;
  if (!startTime || (id !== null && typeof id !== 'string') || !Array.isArray(besides)) return null;
  return besides.every((other) => typeof other === 'string') ? { startTime, id, besides } : null;
}

// To the millisecond: upstream may order what started within one in any way.
function sameMoment(trigger: Trigger, position: TriggerPosition | null): position is TriggerPosition {
  return position !== null && floorMs(trigger.startTime) === floorMs(position.startTime);
}

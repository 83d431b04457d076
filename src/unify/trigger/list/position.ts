import { asId, type TriggerId } from '../../../upstream/decode/fields.js';
import { Instant } from '../../time/instant.js';
import { floorMs } from '../../time/millisecond.js';
import { compareTriggers, type Trigger } from '../record.js';

export type ScanOrder = 'asc' | 'desc';

/**
 * A position in the list of triggers, in scan order: behind `id` at `startTime`, or before all of that moment when `id`
 * is null. `besides` lists triggers behind it at the same moment that were delivered already: when a page ends within a
 * moment, reading the rest of it would cost a request.
 */
export interface TriggerPosition {
  readonly startTime: Instant;
  readonly id: TriggerId | null;
  readonly besides: readonly string[];
  /** True where the last of `besides` was delivered after `id`: the position is behind it. */
  readonly isBeside?: true;
  /** True where a scan in the order opposite to the list's continues from here: it reads what lies before the position. */
  readonly isOpposite?: true;
}

/** True when a trigger comes after `position` and was not delivered. */
export function isAhead(position: TriggerPosition | null, trigger: Trigger, order: ScanOrder): boolean {
  if (!position) return true;
  if (position.isOpposite && sameMoment(trigger, position)) {
    const { id, besides } = position;
    if (besidesBefore(position).includes(trigger.triggerId)) return true;
    if (id === null || besides.includes(trigger.triggerId)) return false;
    if (trigger.triggerId === id) return position.isBeside === true;
  } else if (sameMoment(trigger, position) && position.besides.length > 0) {
    if (position.besides.includes(trigger.triggerId)) return false;
    // More triggers of the moment may appear, also with digits that sort them before delivered ones. They are delivered
    // late rather than never.
    if (position.id === null) return true;
  }
  const later = inOrder(order, trigger.startTime.compare(position.startTime));
  if (later !== 0) return later > 0;
  if (position.id === null) return true;
  return (
    inOrder(order, compareTriggers(trigger, { startTime: position.startTime, triggerId: position.id })) > 0
  );
}

/** The triggers of `besides` that were delivered before the one which the position is behind. */
function besidesBefore({ id, besides, isBeside }: TriggerPosition): readonly string[] {
  return id === null || isBeside ? besides.slice(0, -1) : besides;
}

/**
 * Compares triggers by scan order. Where a scan in the opposite order continues within a moment, the triggers that were
 * delivered beside come last, the first delivered at the end.
 */
export function compareInScan(
  order: ScanOrder,
  position: TriggerPosition | null,
): (a: Trigger, b: Trigger) => number {
  const compare = (a: Trigger, b: Trigger) => inOrder(order, compareTriggers(a, b));
  if (!position?.isOpposite) return compare;
  const { besides } = position;
  return (a, b) => {
    if (!sameMoment(a, position) || !sameMoment(b, position)) return compare(a, b);
    const [indexOfA, indexOfB] = [besides.indexOf(a.triggerId), besides.indexOf(b.triggerId)];
    if (indexOfA < 0 && indexOfB < 0) return compare(a, b);
    if (indexOfA < 0 || indexOfB < 0) return indexOfA - indexOfB;
    return indexOfB - indexOfA;
  };
}

/** Position behind a trigger of a completely read moment, continuing from `before`. */
export function behind(trigger: Trigger, before: TriggerPosition | null): TriggerPosition {
  const { startTime, triggerId: id } = trigger;
  if (!sameMoment(trigger, before)) return { startTime, id, besides: [] };
  const { besides, isOpposite } = before;
  const index = besides.indexOf(id);
  if (isOpposite && index >= 0) return { startTime, id: null, besides: besides.slice(0, index + 1) };
  const left = isOpposite ? besidesBefore(before) : besides;
  return { startTime, id, besides: left.filter((other) => other !== id) };
}

/** Position behind triggers of one moment that may have more members, continuing from `before`. */
export function behindSome(
  triggers: readonly Trigger[],
  before: TriggerPosition | null,
): TriggerPosition | null {
  const last = triggers.at(-1);
  if (!last) return before;
  const ids = triggers.map((trigger) => trigger.triggerId);
  if (!sameMoment(last, before)) return { startTime: last.startTime, id: null, besides: ids };
  const besides = [...before.besides, ...ids];
  return before.id === null ? { ...before, besides } : { ...before, besides, isBeside: true };
}

export function inOrder(order: ScanOrder, compared: number): number {
  return order === 'asc' ? compared : -compared;
}

/** The position as JSON, for a cursor. */
export function encodePosition(position: TriggerPosition): unknown {
  const { startTime, id, besides, isBeside } = position;
  if (besides.length === 0) return [startTime.toString(), id];
  return isBeside ? [startTime.toString(), id, besides, isBeside] : [startTime.toString(), id, besides];
}

/** Null when the value was not made by `encodePosition`. */
export function decodePosition(value: unknown): TriggerPosition | null {
  if (!Array.isArray(value) || value.length < 2 || value.length > 4) return null;
  const [time, id, besides = [], isBeside] = value as unknown[];
  const startTime = typeof time === 'string' ? Instant.parse(time) : null;
  if (!startTime || (id !== null && typeof id !== 'string') || !Array.isArray(besides)) return null;
  if (!besides.every((other) => typeof other === 'string')) return null;
  if (isBeside === undefined) return { startTime, id: id === null ? null : asId(id), besides };
  return isBeside === true && id !== null && besides.length > 0
    ? { startTime, id: asId(id), besides, isBeside }
    : null;
}

// Compared by millisecond: upstream may order triggers of one millisecond in any way.
function sameMoment(trigger: Trigger, position: TriggerPosition | null): position is TriggerPosition {
  return position !== null && floorMs(trigger.startTime) === floorMs(position.startTime);
}

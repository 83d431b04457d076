import type { ForwardMs } from '../../clock.js';
import { UpstreamUnavailable } from '../../errors.js';
import { asId, type DeviceId, type Num, type Text, type TriggerId } from '../../upstream/decode/fields.js';
import type { WireTrigger } from '../../upstream/project/wire.js';
import { type Page, type Read, readsIn } from '../../upstream/read/read.js';
import { derived, mostPages } from '../derived.js';
import { compareText } from '../text-order.js';
import { Instant } from '../time/instant.js';
import { instantOf, type MaybeInstant } from '../time/wire-time.js';

export type TriggerStatus = 'OPEN' | 'CLOSED' | 'UNKNOWN';

/**
 * A triggered recording of the project (docs/interfaces.md P2). Peaks are in upstream's units, measured after filtering
 * to 0.5 to 25 Hz. `locationName` is unmasked: show it only through `masking.ts`.
 */
export interface Trigger {
  /**
   * Held by the global id: enough to read the trigger again with one request, since upstream cannot read triggers by
   * id.
   */
  readonly key: string;
  readonly triggerId: TriggerId;
  readonly deviceId: DeviceId;
  /** Null when the sensor has since moved to another project. */
  readonly stationCode: Text;
  readonly locationName: Text;
  readonly status: TriggerStatus;
  readonly startTime: Instant;
  readonly endTime: MaybeInstant;
  readonly peakTime: MaybeInstant;
  readonly pgaHorizontalMg: Num;
  readonly pgaHneMg: Num;
  readonly pgaHnnMg: Num;
  readonly pgaHnzMg: Num;
  readonly pgvEhzMmPerS: Num;
  readonly peakEhzCounts: Num;
  readonly peakFrequencyHz: Num;
  readonly readAtMs: ForwardMs;
}

/** @throws UpstreamUnavailable when the start time cannot be read: without it the trigger cannot be listed. */
export function triggerOf(record: WireTrigger, readAtMs: ForwardMs): Trigger {
  const startTime = Instant.parse(record.start_time);
  if (!startTime) throw new UpstreamUnavailable('Upstream sent a trigger whose start_time is not a time');
  return {
    key: triggerKey({ triggerId: record.id, deviceId: record.device_id, startTime }),
    triggerId: record.id,
    deviceId: record.device_id,
    stationCode: record.station,
    locationName: record.location_name,
    status: statusOf(record.status),
    startTime,
    endTime: instantOf(record.end_time),
    peakTime: instantOf(record.peak_time),
    pgaHorizontalMg: record.pga_horizontal_mg,
    pgaHneMg: record.pga_hne_mg,
    pgaHnnMg: record.pga_hnn_mg,
    pgaHnzMg: record.pga_hnz_mg,
    pgvEhzMmPerS: record.pgv_ehz_mm_s,
    peakEhzCounts: record.peak_ehz_counts,
    peakFrequencyHz: record.peak_hz,
    readAtMs,
  };
}

/** The wire record of a trigger, limited to the fields that the trigger holds. */
export function wireOf(trigger: Trigger): Read<WireTrigger> {
  const value = {
    id: trigger.triggerId,
    device_id: trigger.deviceId,
    station: trigger.stationCode,
    location_name: trigger.locationName,
    start_time: trigger.startTime.toString(),
    end_time: textOf(trigger.endTime),
    peak_time: textOf(trigger.peakTime),
    pga_horizontal_mg: trigger.pgaHorizontalMg,
    pga_hne_mg: trigger.pgaHneMg,
    pga_hnn_mg: trigger.pgaHnnMg,
    pga_hnz_mg: trigger.pgaHnzMg,
    pgv_ehz_mm_s: trigger.pgvEhzMmPerS,
    peak_ehz_counts: trigger.peakEhzCounts,
    peak_hz: trigger.peakFrequencyHz,
    status: trigger.status.toLowerCase(),
  };
  return { value, readAtMs: trigger.readAtMs };
}

const textOf = (time: MaybeInstant): Text => (time instanceof Instant ? time.toString() : time);

/**
 * The triggers of a page. The decoder has dropped those whose start time cannot be read (docs/behaviour.md 5.12); one
 * that came past it, from another instance, must not lose the page either.
 */
export const triggersOf = derived(
  (page: Read<Page<WireTrigger>>): readonly Trigger[] =>
    readsIn(page)
      .filter(({ value }) => Instant.parse(value.start_time) !== null)
      .map(({ value, readAtMs }) => triggerOf(value, readAtMs)),
  mostPages,
);

/** Duration in seconds; null while the trigger has no end. */
export function durationS(trigger: Trigger): Num {
  const { startTime, endTime } = trigger;
  if (!(endTime instanceof Instant)) return endTime;
  // Whole seconds and fractions are subtracted separately: milliseconds since 1970 as one float would lose the
  // microseconds.
  const wholeS = endTime.unixS - startTime.unixS + (endTime.leap ? 1 : 0) - (startTime.leap ? 1 : 0);
  const micros = Math.round((fraction(endTime) - fraction(startTime)) * 1e6);
  return (wholeS * 1e6 + micros) / 1e6;
}

/** By start time, tie-break by id: one order for all pages. */
export function compareTriggers(a: TriggerSortKey, b: TriggerSortKey): number {
  return a.startTime.compare(b.startTime) || compareIds(a.triggerId, b.triggerId);
}

export type TriggerSortKey = Pick<Trigger, 'startTime' | 'triggerId'>;

/** Content of the global id of a trigger. Its start time is assumed never to change. */
export type TriggerKey = Pick<Trigger, 'triggerId' | 'deviceId' | 'startTime'>;

export function triggerKey({ triggerId, deviceId, startTime }: TriggerKey): string {
  // Trailing zeros are dropped, so the key stays the same if upstream writes more or fewer of them.
  const time = startTime
    .toString()
    .replace(/\.(\d*?)0*Z$/, (_, digits) => (digits === '' ? 'Z' : `.${digits}Z`));
  return `${encodeURIComponent(triggerId)}:${encodeURIComponent(deviceId)}:${time}`;
}

/** Null when the text is not the key of a trigger. */
export function parseTriggerKey(key: string): TriggerKey | null {
  const [, id = '', device = '', time = ''] = /^([^:]+):([^:]+):(.+)$/.exec(key) ?? [];
  const startTime = Instant.parse(time);
  if (!startTime) return null;
  try {
    const parsed: TriggerKey = {
      triggerId: asId(decodeURIComponent(id)),
      deviceId: asId(decodeURIComponent(device)),
      startTime,
    };
    return triggerKey(parsed) === key ? parsed : null;
  } catch {
    return null;
  }
}

function statusOf(status: Text): TriggerStatus {
  const text = typeof status === 'string' ? status.trim().toLowerCase() : '';
  if (text === 'open') return 'OPEN';
  return text === 'closed' ? 'CLOSED' : 'UNKNOWN';
}

function fraction(instant: Instant): number {
  return instant.digits === '' ? 0 : Number(`0.${instant.digits}`);
}

// Upstream's ids are integers and compare as numbers: as text, 10 would come before 9. Other ids come last.
function compareIds(a: string, b: string): number {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== y) return x < y ? -1 : 1;
  return compareText(a, b);
}

function numberOf(id: string): number {
  return /^-?\d+$/.test(id) ? Number(id) : Number.POSITIVE_INFINITY;
}

import { earliest } from '../../clock.js';
import type { Page, Read } from '../read/read.js';
import type { TriggerQuery } from './client.js';
import type { WireTrigger } from './wire.js';

/**
 * Adds triggers that a feed has delivered since the page was requested, as upstream would answer now. Null where that
 * cannot be decided: records after the end of a page that is not the last may be counted in its total or not
 * (docs/behaviour.md 5.7).
 */
export function withDelivered(
  page: Read<Page<WireTrigger>>,
  query: TriggerQuery,
  delivered: readonly Read<WireTrigger>[],
): Page<WireTrigger> | null {
  let { value }: { value: Page<WireTrigger> | null } = page;
  for (const read of delivered) value &&= withOne({ value, readAtMs: page.readAtMs }, query, read);
  return value;
}

/** A page of one sensor and one moment, where a feed has delivered a trigger of them; else null. */
export function momentOfDelivered(
  query: TriggerQuery,
  delivered: readonly Read<WireTrigger>[],
): Read<Page<WireTrigger>> | null {
  const { from, deviceId, offset } = query;
  if (!isOneMoment(query) || from === undefined || deviceId === undefined || offset > 0) return null;
  const lastOf = new Map<string, Read<WireTrigger>>();
  for (const read of delivered) {
    const { id, start_time, device_id } = read.value;
    if (moment(start_time) === moment(from) && bare(device_id) === bare(deviceId)) lastOf.set(id, read);
  }
  if (lastOf.size === 0) return null;
  const items = [...lastOf.values()].map(({ value }) => value);
  const readAtMs = earliest(...[...lastOf.values()].map((read) => read.readAtMs));
  return { value: { items, total: items.length, received: items.length }, readAtMs };
}

/** One sensor at one moment has one trigger. */
export function isOneMoment({ from, to, deviceId }: TriggerQuery): boolean {
  return deviceId !== undefined && from !== undefined && from === to;
}

function withOne(
  { value: page, readAtMs }: Read<Page<WireTrigger>>,
  query: TriggerQuery,
  read: Read<WireTrigger>,
): Page<WireTrigger> | null {
  const { items, total } = page;
  const index = items.findIndex(({ id }) => id === read.value.id);
  const listed = items[index];
  if (listed) {
    // Closed values are final (docs/interfaces.md P3).
    if (isClosed(listed)) return page;
    const listedMs = page.readLater?.get(listed) ?? readAtMs;
    // Of two open states it is not known which is later where their responses may have crossed.
    if (!isClosed(read.value) && listedMs >= read.readAtMs) return null;
    return { ...page, items: items.with(index, read.value), readLater: later(page, read) };
  }
  const position = positionIn(query, read.value);
  if (position === 'outside') return page;
  const isPlain = query.offset === 0 && total !== null && page.received === items.length && !page.goesOn;
  if (position === 'at an end' || !isPlain) return null;
  const sign = query.order === 'asc' ? 1 : -1;
  const behind = items.findIndex((item) => sign * (startMs(item) - startMs(read.value)) > 0);
  if (behind < 0 && items.length < total) return null;
  const all = items.toSpliced(behind < 0 ? items.length : behind, 0, read.value);
  const taken = all.slice(0, query.limit);
  return { items: taken, total: total + 1, received: taken.length, readLater: later(page, read) };
}

/** A trigger at an end of the range to the millisecond may be inside or outside: upstream may compare more digits. */
function positionIn(
  { from, to, deviceId }: TriggerQuery,
  trigger: WireTrigger,
): 'within' | 'outside' | 'at an end' {
  if (deviceId !== undefined && bare(deviceId) !== bare(trigger.device_id)) return 'outside';
  const ms = startMs(trigger);
  const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const toMs = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  if (ms < fromMs || ms > toMs) return 'outside';
  return ms > fromMs && ms < toMs ? 'within' : 'at an end';
}

const later = ({ readLater }: Page<WireTrigger>, { value, readAtMs }: Read<WireTrigger>) =>
  new Map([...(readLater ?? []), [value, readAtMs] as const]);

const startMs = ({ start_time }: WireTrigger) => Date.parse(start_time);
// Trailing zeros of the fraction do not tell times apart.
const moment = (time: string) => time.replace(/(\.\d*?)0*Z$/, '$1Z').replace('.Z', 'Z');
const isClosed = ({ status }: WireTrigger) => status === 'closed';
// Device IDs are written with separators or without, in any case.
const bare = (deviceId: string) => deviceId.replace(/[^0-9A-Za-z]/g, '').toUpperCase();

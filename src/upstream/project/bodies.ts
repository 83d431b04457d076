import type { z } from 'zod';
import { countOf, type Decoding, decodeList, decodeOne, objectOf } from '../decode/list.js';
import { badBody } from '../decode/response.js';
import { listTime } from '../decode/time.js';
import type { Page } from '../read/read.js';
import {
  eventDetailShape,
  eventShape,
  healthReportShape,
  type WireEventDetail,
  type WireHealthPage,
} from './wire.js';

/** docs/interfaces.md P4: {data, total, limit, offset}. */
export function decodePage<Shape extends z.ZodType>(
  body: unknown,
  shape: Shape,
  decoding: Decoding,
): Page<z.output<Shape>> {
  const { data, total } = objectOf(body, decoding);
  return { ...decodeList(data, shape, decoding), total: countOf(total) };
}

export function decodeHealthPage(body: unknown, decoding: Decoding): WireHealthPage {
  const { data, next_from } = objectOf(body, decoding);
  const { items, unreadable } = decodeList(data, healthReportShape, decoding);
  return { reports: items, ...(unreadable && { unreadable }), nextFrom: nextFromOf(next_from, decoding) };
}

export function decodeEventDetail(body: unknown, decoding: Decoding): WireEventDetail {
  const detail = decodeOne(objectOf(body, decoding), eventDetailShape, decoding);
  const event = eventShape.safeParse(body);
  return { ...detail, event: event.success ? event.data : null };
}

// A list that goes on at a time that cannot be read would otherwise look as if it ended.
function nextFromOf(value: unknown, decoding: Decoding): string | null {
  if (value === null || value === undefined || value === '') return null;
  const time = listTime.safeParse(value);
  if (!time.success) throw badBody(decoding, 'a `next_from` that is not a time');
  return time.data;
}

import type { z } from 'zod';
import { countOf, type Decoding, decodeList, decodeOne, decodeParts, objectOf } from '../decode/list.js';
import { badBody } from '../decode/response.js';
import type { CataloguePage } from './client.js';
import {
  arrivalShape,
  eventDetailShape,
  type WireEventDetail,
  type WireWaveform,
  waveformShape,
} from './wire.js';

/** docs/interfaces.md C4: {data: {...}} for single resources. */
export function dataOf(body: unknown, decoding: Decoding): unknown {
  return objectOf(body, decoding).data;
}

/**
 * docs/interfaces.md C4: {data: [...], pagination: {page, limit, total}}, of which any part of the paging may be
 * missing.
 */
export function decodePage<Shape extends z.ZodType>(
  body: unknown,
  shape: Shape,
  askedLimit: number,
  decoding: Decoding,
): CataloguePage<z.output<Shape>> {
  const { data, pagination } = objectOf(body, decoding);
  const { total, limit } = isRecord(pagination) ? pagination : {};
  const applied = countOf(limit);
  return {
    ...decodeList(data, shape, decoding),
    total: countOf(total),
    limit: applied !== null && applied > 0 ? applied : askedLimit,
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function decodeEventDetail(body: unknown, decoding: Decoding): WireEventDetail {
  const { stations, ...event } = decodeOne(dataOf(body, decoding), eventDetailShape, decoding);
  return { ...event, stations: stations ? decodeParts(stations, arrivalShape, decoding).items : null };
}

export function decodeWaveform(body: unknown, decoding: Decoding): WireWaveform {
  const waveform = decodeOne(dataOf(body, decoding), waveformShape, decoding);
  const samples: readonly unknown[] = waveform.samples;
  // A gap may be written as null or as the text NaN: it becomes NaN, so that the other samples keep their times.
  const whole = samples.every((sample) => typeof sample === 'number');
  if (whole) return waveform;
  if (samples.some((sample) => typeof sample === 'object' && sample !== null)) {
    throw badBody(decoding, 'samples that are not numbers');
  }
  return {
    ...waveform,
    samples: samples.map((sample) => (typeof sample === 'number' ? sample : Number.NaN)),
  };
}

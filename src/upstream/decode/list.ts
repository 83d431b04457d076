import { hash } from 'node:crypto';
import type { z } from 'zod';
import type { Source } from '../../errors.js';
import { badBody } from './response.js';

/** The origin of a body, and a callback for the elements dropped from it. */
export interface Decoding {
  readonly source: Source;
  readonly endpoint: string;
  /** Called once per list that had bad elements. */
  readonly dropped: (count: number, received: number) => void;
}

export interface DecodedList<T> {
  readonly items: readonly T[];
  /** Elements sent, the dropped ones included: the next offset counts them. */
  readonly received: number;
  /**
   * One name for each dropped element, equal when the same element is read again: its id where that can be read. Left out
   * where there is none.
   */
  readonly unreadable?: readonly string[];
}

/**
 * Decodes each element of a list by itself: a bad one is dropped and counted and does not lose the others
 * (docs/behaviour.md 5.12). A body without an array, or of which no element can be read, is a bad body, not an empty
 * list.
 */
export function decodeList<Shape extends z.ZodType>(
  raw: unknown,
  shape: Shape,
  decoding: Decoding,
): DecodedList<z.output<Shape>> {
  const list = decodeParts(raw, shape, decoding);
  if (list.items.length === 0 && list.received > 0) {
    throw badBody(decoding, `${list.received} elements of which none can be read`);
  }
  return list;
}

/** As `decodeList`, for a list within a record: the record is answered also where no element can be read. */
export function decodeParts<Shape extends z.ZodType>(
  raw: unknown,
  shape: Shape,
  decoding: Decoding,
): DecodedList<z.output<Shape>> {
  if (!Array.isArray(raw)) throw badBody(decoding, 'a body without its list');
  const items: z.output<Shape>[] = [];
  const unreadable: string[] = [];
  for (const element of raw) {
    const result = shape.safeParse(element);
    if (result.success) items.push(result.data);
    else unreadable.push(nameOf(element));
  }
  if (unreadable.length === 0) return { items, received: raw.length };
  decoding.dropped(unreadable.length, raw.length);
  return { items, received: raw.length, unreadable };
}

function nameOf(element: unknown): string {
  const { id } = (element ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' || typeof id === 'number'
    ? String(id)
    : `${nameless}${hash('sha1', JSON.stringify(element) ?? '', 'base64')}`;
}

/** Begins the names of elements without a readable id. */
export const nameless = '(without an id) ';

/** True where the name of a dropped element is not its id, since that cannot be read. */
export function isNameless(name: string): boolean {
  return name.startsWith(nameless);
}

/** Returns the body or envelope as an object; throws where it is none. */
export function objectOf(raw: unknown, decoding: Decoding): Readonly<Record<string, unknown>> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw badBody(decoding, 'a body that is not an object');
  }
  return raw as Readonly<Record<string, unknown>>;
}

/** Decodes a single resource; throws where it lacks its identifier. */
export function decodeOne<Shape extends z.ZodType>(
  raw: unknown,
  shape: Shape,
  decoding: Decoding,
): z.output<Shape> {
  const result = shape.safeParse(raw);
  if (!result.success) throw badBody(decoding, 'a body that is not the resource');
  return result.data;
}

/** A count in a paging envelope, or null where it is missing or not a count. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.floor(value) : null;
}

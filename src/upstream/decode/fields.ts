import { z } from 'zod';
import { UpstreamUnavailable } from '../../errors.js';

/**
 * Leaf decoders of both wire shapes. Anything the specs call a number, text or boolean may be null or missing, and one
 * malformed value must not cost its record (docs/behaviour.md 5.12): it becomes an error *as the value*, which GraphQL
 * reports at that field's path while the rest of the record is answered.
 */
export class MalformedValue extends UpstreamUnavailable {}

export type Num = number | null | MalformedValue;
export type Text = string | null | MalformedValue;
export type Bool = boolean | null | MalformedValue;

/** A finite JSON number, also where it is given as text. */
export function numOf(value: unknown): Num {
  if (value === null || value === undefined) return null;
  const read = typeof value === 'string' && decimalNumber.test(value) ? Number(value) : value;
  if (typeof read === 'number' && Number.isFinite(read)) return read;
  return malformed(value, 'a number');
}

const decimalNumber = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

/** Text; a number or boolean is taken as its text, since the specs elide the type of several ids. */
export function textOf(value: unknown): Text {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return malformed(value, 'text');
}

export function boolOf(value: unknown): Bool {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  return malformed(value, 'true or false');
}

export const num = z.unknown().optional().transform(numOf);
export const text = z.unknown().optional().transform(textOf);
/** A code of SEED. Assumed: blanks around it are padding, as in records of fixed width. */
export const seedCode = text.transform((code) => (typeof code === 'string' ? code.trim() : code));
/** SEED writes the empty location code as blanks, and FDSN services also as `--`. */
export const locationCode = seedCode.transform((code) => (code === '--' ? '' : code));
export const bool = z.unknown().optional().transform(boolOf);

declare const of: unique symbol;

/** An identifier of one kind of record: where one of another kind is expected it does not compile. */
export type Id<Kind extends string> = string & { readonly [of]: Kind };

export type DeviceId = Id<'device'>;
export type ProjectEventId = Id<'event of the project'>;
export type CatalogueEventId = Id<'event of the catalogue'>;
export type CatalogueSensorId = Id<'sensor of the catalogue'>;
export type TriggerId = Id<'trigger'>;
export type NetworkId = Id<'network'>;

/** A text from outside, such as an argument, taken for an identifier. */
export function asId<Kind extends string>(text: string): Id<Kind> {
  return text as Id<Kind>;
}

/** The identifier of a record. Without it the record is dropped: it cannot be distinguished from another. */
export function identifier<Kind extends string>() {
  return z.union([z.string().min(1), z.number()]).transform((value) => asId<Kind>(String(value)));
}

/** An object, or null where it is missing or of another kind. */
export function part<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object(shape)
    .nullish()
    .catch(null)
    .transform((value) => value ?? null);
}

/** An array of any JSON, or null where it is missing or of another kind. */
export const anyList = z
  .array(z.unknown())
  .nullish()
  .catch(null)
  .transform((value) => value ?? null);

/** The value, or null where it is missing or malformed: for comparisons and merges. */
export function known<T extends number | string | boolean>(
  value: T | null | undefined | MalformedValue,
): T | null {
  return value === undefined || value instanceof MalformedValue ? null : value;
}

export function isMalformed(value: unknown): value is MalformedValue {
  return value instanceof MalformedValue;
}

function malformed(value: unknown, expected: string): MalformedValue {
  return new MalformedValue(`Upstream sent ${kindOf(value)} where ${expected} belongs`);
}

// The value itself may be anything, a key included: messages contain only its kind.
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'null';
  return `a value of type ${typeof value}`;
}

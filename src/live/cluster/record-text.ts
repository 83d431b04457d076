import { Instant } from '../../unify/time/instant.js';
import { MalformedValue } from '../../upstream/decode/fields.js';

/**
 * Encodes records as text for other instances. Upstream times keep all their digits, and a malformed value remains an
 * error at its field.
 */
export function textOf(value: unknown): string {
  return JSON.stringify(value, function (key, plain) {
    // `plain` has already passed through `toJSON`; the original value is on `this`.
    const own: unknown = Reflect.get(this, key);
    if (own instanceof Instant) return { [time]: own.toString() };
    if (own instanceof MalformedValue) return { [malformed]: own.message };
    return plain;
  });
}

export function parseText(text: string): unknown {
  return JSON.parse(text, (_, value) => {
    if (typeof value !== 'object' || value === null) return value;
    if (typeof value[time] === 'string') return Instant.parse(value[time]);
    if (typeof value[malformed] === 'string') return new MalformedValue(value[malformed]);
    return value;
  });
}

// Upstream has no field names that begin with a NUL character.
const time = '\u0000time';
const malformed = '\u0000malformed';

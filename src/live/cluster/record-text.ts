import { Instant } from '../../unify/time/instant.js';
import { MalformedValue } from '../../upstream/decode/fields.js';

/**
 * Records as text, for other instances of the gateway, and back. Times of upstream keep all their digits, and a value that
 * was not what the interface describes stays an error at its field.
 */
export function textOf(value: unknown): string {
  return JSON.stringify(value, function (key, plain) {
    // JSON.stringify has turned neither into something else: both are objects without a form of their own.
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

// No field of upstream's is called so: these names are not text of the wire.
const time = '\u0000time';
const malformed = '\u0000malformed';

import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { Instant } from '../unify/time/instant.js';

/** Types of the three scalars in resolvers. */
export type GraphScalars = {
  DateTime: { Input: Instant; Output: Instant };
  /** Verbatim upstream JSON. */
  JSON: { Input: unknown; Output: unknown };
  /** One array as a scalar, so that the executor does not complete each sample. */
  Samples: { Input: never; Output: readonly number[] };
};

export const dateTimeScalar = {
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  description:
    'Moment in time, written as an RFC 3339 timestamp in UTC, such as "2026-03-08T10:00:00.123456Z". ' +
    'All digits of a second that the service sends are kept, also beyond the millisecond. As input, ' +
    'any RFC 3339 offset and a plain date ("2026-03-08", its midnight UTC) are accepted as well; ' +
    'another text is BAD_USER_INPUT.',
  serialize: (value: unknown): string => {
    if (value instanceof Instant) return value.toString();
    throw new TypeError('DateTime serializes an Instant');
  },
  parseValue: parseDateTime,
  parseLiteral: (node: ValueNode): Instant => {
    if (node.kind !== Kind.STRING) throw notATime(node.kind);
    return parseDateTime(node.value);
  },
};

export const jsonScalar = {
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  description:
    'Any JSON value (RFC 8259): an object, an array, a text, a number, a boolean or null. It is used ' +
    'for GeoJSON, and for parts of a record that the service sends without documenting their layout; ' +
    'those are passed on unchanged.',
  serialize: (value: unknown): unknown => value,
};

export const samplesScalar = {
  description:
    'Waveform samples as one JSON array of numbers, in which null stands for a gap. It is an output ' +
    'type alone and has no specification of its own: the unit and spacing of the numbers are stated at ' +
    'the fields that use it.',
  serialize: (value: unknown): unknown => value,
  parseValue: (): never => {
    throw new GraphQLError('Samples is an output type');
  },
};

function parseDateTime(value: unknown): Instant {
  const instant = typeof value === 'string' ? Instant.parseInput(value) : null;
  if (!instant) throw notATime(typeof value === 'string' ? JSON.stringify(value) : typeof value);
  return instant;
}

// Not a GraphQLError: graphql-js would report that without its location in the document.
function notATime(got: string): TypeError {
  return new TypeError(
    `Expected an RFC 3339 time such as "2026-03-08T10:00:00Z" or a date such as "2026-03-08", got ${got}`,
  );
}

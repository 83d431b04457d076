import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { Instant } from '../unify/time.js';

/** What the three scalars are to the resolvers. */
export type GraphScalars = {
  DateTime: { Input: Instant; Output: Instant };
  /** Verbatim upstream JSON. */
  JSON: { Input: unknown; Output: unknown };
  /** Finished samples are passed on as one array, which the executor does not walk. */
  Samples: { Input: never; Output: readonly number[] };
};

export const dateTimeScalar = {
  description:
    'RFC 3339 timestamp in UTC. Sub-millisecond digits that upstream sends are kept. Input also takes a plain date ' +
    '(midnight UTC) and any RFC 3339 offset.',
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
  description: 'Verbatim upstream JSON, for the parts whose layout upstream does not document.',
  serialize: (value: unknown): unknown => value,
};

export const samplesScalar = {
  description: 'An array of waveform samples, written as one JSON array of numbers.',
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

// Not a GraphQLError: graphql would pass that on without saying where in the document it is.
function notATime(got: string): TypeError {
  return new TypeError(
    `Expected an RFC 3339 time such as "2026-03-08T10:00:00Z" or a date such as "2026-03-08", got ${got}`,
  );
}

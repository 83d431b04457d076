import fc from 'fast-check';
import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { jsonPieces } from '../../src/server/execution/json-pieces.js';

const rows = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ n, text: `row ${n}`, list: [n, null] }));

describe('the pieces of an answer', () => {
  it('are together what JSON.stringify writes, whatever is in it and however large', () => {
    const large = fc
      .tuple(fc.jsonValue(), fc.integer({ min: 0, max: 3_000 }))
      .map(([value, count]) => Array.from({ length: count }, () => value));
    const answer = fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), large, fc.constant(undefined)));
    fc.assert(
      fc.property(fc.oneof(answer, large, fc.array(answer, { maxLength: 5 })), (value) => {
        expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value));
      }),
      { numRuns: 150 },
    );
  });

  it('hold errors as they write themselves, and leave out what is undefined', () => {
    const answer = {
      errors: [new GraphQLError('no')],
      data: { rows: rows(2_000), none: undefined, nothing: null },
    };
    expect([...jsonPieces(answer)].join('')).toBe(JSON.stringify(answer));
  });

  it('are all short, and one where the answer is', () => {
    const pieces = [
      ...jsonPieces({ data: { sensors: rows(40).map((row) => ({ row, reports: rows(1_000) })) } }),
    ];
    expect(pieces.length).toBeGreaterThan(30);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(200_000);
    expect([...jsonPieces({ data: { sensors: rows(100) } })]).toHaveLength(1);
  });
});

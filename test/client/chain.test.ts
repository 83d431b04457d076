import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Chain } from '../../src/client/resume/chain.js';
import type { Change } from '../../src/client/resume/resumed.js';

const change = (position: number): Change => ({
  after: String(position - 1),
  cursor: String(position),
  result: {},
});

it('changes of several sources are taken once each and in order, whatever comes late, twice or out of order', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.nat({ max: 19 })),
      fc.array(fc.nat({ max: 100 })),
      (count, repeated, positions) => {
        // Each change at least once, some again, shuffled.
        const from = Array.from({ length: count }, (_, index) => index + 1);
        const delivered = [...from, ...repeated.map((index) => (index % count) + 1)];
        for (const [index, position] of positions.entries()) {
          const [moved = 1] = delivered.splice(position % delivered.length, 1);
          delivered.splice(index % (delivered.length + 1), 0, moved);
        }
        const chain = new Chain('0');
        const taken = delivered.flatMap((position) => chain.take(change(position)));
        expect(taken.map(({ cursor }) => Number(cursor))).toEqual(from);
        expect(chain.at).toBe(String(count));
      },
    ),
  );
});

it('a change whose predecessor is missing waits for it', () => {
  const chain = new Chain('0');
  expect(chain.take(change(2))).toEqual([]);
  expect(chain.at).toBe('0');
  expect(chain.take(change(1))).toEqual([change(1), change(2)]);
});

it('changes of two instances, whose cursors differ behind the point, are of one order', () => {
  const from = (instance: string, position: number): Change => ({
    after: `${position - 1}.${instance}`,
    cursor: `${position}.${instance}`,
    result: {},
  });
  const chain = new Chain('0.a');
  const delivered = [from('b', 2), from('a', 1), from('b', 1), from('a', 3), from('b', 3)];
  expect(delivered.flatMap((one) => chain.take(one)).map(({ cursor }) => cursor)).toEqual([
    '1.a',
    '2.b',
    '3.a',
  ]);
});

it('without a cursor the position of the others is where it begins', () => {
  const chain = new Chain(null);
  chain.begin('4');
  chain.begin('9');
  expect(chain.take(change(5))).toEqual([change(5)]);
});

it('changes that wait are given up where they become many, and are taken when they come again', () => {
  const chain = new Chain('0');
  const others = Array.from({ length: 1_500 }, (_, index) => change(index + 2));
  expect(others.flatMap((other) => chain.take(other))).toEqual([]);
  expect(chain.take(change(1))).toEqual([change(1)]);
  expect(others.flatMap((other) => chain.take(other))).toEqual(others);
});

import { expect, it } from 'vitest';
import { derived } from '../../src/unify/derived.js';

function counted(atMost: number) {
  let made = 0;
  const of = derived((record: { readonly n: number }) => ({ n: record.n, made: ++made }), atMost);
  return { of, made: () => made };
}

it('derives from each record once, null included', () => {
  let made = 0;
  const of = derived((_record: object) => {
    made++;
    return null;
  });
  const record = {};
  expect([of(record), of(record), made]).toEqual([null, null, 1]);
});

it('keeps what was used lately and lets go of what was not', () => {
  const { of, made } = counted(10);
  const records = Array.from({ length: 100 }, (_, n) => ({ n }));
  const [used = { n: -1 }, ...others] = records;
  const first = of(used);
  for (const other of others) {
    of(other);
    expect(of(used)).toBe(first);
  }
  expect(made()).toBe(100);
  const [unused = used] = others;
  expect(of(unused)).toMatchObject({ n: 1, made: 101 });
});

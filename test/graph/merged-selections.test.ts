import fc from 'fast-check';
import { buildSchema, type ExecutionResult, execute, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import type { PayloadOperation } from '../../src/graph/subscriptions/live-operation.js';
import { MergedSelections, selectionOf } from '../../src/graph/subscriptions/merged-selections.js';

const schema = buildSchema(`
  type Query { change: Change }
  type Subscription { change: Change! }
  type Change { id: ID! size(unit: Unit): Float part: Part parts: [Part!]! grid: [[Part]] absent: Part node: Node }
  type Part { name: String! sum(a: Int, b: Int = 3): Int tags: [String!]! next: Part }
  interface Node { id: ID! }
  enum Unit { GAL PERCENT_G }
`);

const part = (name: string): object => ({
  name,
  sum: ({ a = 0, b }: { a?: number; b: number }) => a + b,
  tags: [name, 'x'],
  next: name.length < 4 ? part(`${name}n`) : null,
});
const change = {
  id: '7',
  size: ({ unit }: { unit?: string }) => (unit === 'GAL' ? 1.5 : 2),
  part: part('p'),
  parts: [part('q'), part('r')],
  grid: [[part('s'), null], []],
  absent: null,
};

const leaves = {
  Change: ['id', '__typename', 'size', 'size(unit: GAL)', 'size(unit: PERCENT_G)'],
  Part: ['name', '__typename', 'tags', 'sum', 'sum(a: 1)', 'sum(b: 2, a: 1)', 'sum(a: 1, b: 2)'],
};
const objects = { Change: ['part', 'parts', 'grid', 'absent'], Part: ['next'] };
type Type = keyof typeof leaves;

/** Aliases name field and arguments, so that no two fields of one name differ. */
function withAlias(field: string, isAliased: boolean): string {
  return isAliased || field.includes('(') ? `${field.replace(/\W+/g, '_')}: ${field}` : field;
}

const condition = fc.constantFrom(
  '',
  '',
  '',
  '',
  '@skip(if: $no)',
  '@include(if: $no)',
  '@include(if: $yes)',
);

function selectionText(type: Type, depth: number): fc.Arbitrary<string> {
  const leaf = fc
    .tuple(fc.constantFrom(...leaves[type]), fc.boolean(), condition)
    .map(([field, isAliased, when]) => `${withAlias(field, isAliased)} ${when}`);
  if (depth === 0)
    return fc.array(leaf, { minLength: 1, maxLength: 4 }).map((texts) => `{ ${texts.join(' ')} }`);
  const object = fc
    .tuple(fc.constantFrom(...objects[type]), fc.boolean(), condition, selectionText('Part', depth - 1))
    .map(([field, isAliased, when, inner]) => `${withAlias(field, isAliased)} ${when} ${inner}`);
  const inline = fc
    .tuple(condition, selectionText(type, depth - 1))
    .map(([when, inner]) => `... on ${type} ${when} ${inner}`);
  const named = type === 'Part' ? fc.constant('...Named') : leaf;
  return fc
    .array(fc.oneof(leaf, object, inline, named), { minLength: 1, maxLength: 5 })
    .map((texts) => `{ ${texts.join(' ')} }`);
}

const document = fc.tuple(selectionText('Change', 3), fc.boolean()).map(
  ([selection, isAliased]) =>
    `subscription S($no: Boolean = false, $yes: Boolean!) {
        ${withAlias('change', isAliased)} ${selection}
        ...Root
      }
      fragment Root on Subscription { change { parts { ...Named } id @skip(if: $yes) last: id @include(if: $no) } }
      fragment Named on Part { sum tags }`,
);

const operationOf = (text: string): PayloadOperation => ({
  key: text,
  document: parse(text),
  operationName: 'S',
  variableValues: { yes: true },
  values: 1,
});

const run = (operation: Pick<PayloadOperation, 'document'> & Partial<PayloadOperation>) =>
  execute({ ...operation, schema, rootValue: { change } }) as ExecutionResult;

it('each gets the answer that it gets by itself, field for field in its order', () => {
  const documents = fc.array(document, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(documents, fc.integer({ min: 1, max: 40 }), (texts, mostValues) => {
      const operations = texts.map(operationOf);
      for (const operation of operations) expect(validate(schema, operation.document)).toEqual([]);
      const selections = operations.map((operation) => selectionOf(schema, operation));
      const found = selections.filter((selection) => selection !== null);
      expect(found).toHaveLength(operations.length);
      const all = MergedSelections.of(found, mostValues);
      expect(all.flatMap(({ selections }) => selections)).toEqual(found);
      const answers = all.flatMap((merged) => {
        const { data } = run({ document: merged.document });
        return merged.selections.map((selection) => merged.answerFor(selection, data));
      });
      operations.forEach((operation, at) => {
        const alone = run(operation);
        expect(alone.errors).toBeUndefined();
        expect(JSON.stringify(answers[at])).toBe(JSON.stringify(alone.data));
      });
    }),
  );
});

it('are merged into several where one would have too many fields', () => {
  const texts = Array.from({ length: 30 }, (_, at) => `subscription S { change { part { sum(a: ${at}) } } }`);
  const selections = texts.map((text) => selectionOf(schema, operationOf(text)) ?? []);
  const all = MergedSelections.of([...selections, ...selections], 12);
  for (const { values } of all) expect(values).toBeLessThanOrEqual(12);
  expect(all.map((merged) => merged.selections.length)).toEqual([10, 10, 10, 10, 10, 10]);
});

it.each([
  ['a variable in an argument', 'subscription S($a: Int) { change { part { sum(a: $a) } } }'],
  ['a type that only the value decides', 'subscription S { change { node { id } } }'],
  ['a name that would be the prototype', 'subscription S { change { __proto__: id } }'],
])('is executed by itself: %s', (_, text) => {
  expect(selectionOf(schema, operationOf(text))).toBeNull();
});

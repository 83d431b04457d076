import { execute, GraphQLInt, GraphQLList, GraphQLObjectType, GraphQLSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { Slices } from '../../src/event-loop-slices.js';
import { withSlicedLists } from '../../src/graph/sliced-lists.js';

const rows = Array.from({ length: 50_000 }, (_, n) => ({ n }));

/** A schema of one long list, in which each item notes the iteration of the event loop that it is answered in. */
function world() {
  let iteration = 0;
  const countIterations = () => {
    iteration += 1;
    counting = setImmediate(countIterations);
  };
  let counting = setImmediate(countIterations);
  const answeredIn = new Map<number, number>();
  const row = new GraphQLObjectType({
    name: 'Row',
    fields: {
      n: {
        type: GraphQLInt,
        resolve({ n }) {
          answeredIn.set(iteration, (answeredIn.get(iteration) ?? 0) + 1);
          return n;
        },
      },
    },
  });
  const list = { type: new GraphQLList(row), resolve: () => rows };
  const later = { type: new GraphQLList(row), resolve: () => Promise.resolve(rows) };
  const failing = {
    type: new GraphQLList(row),
    resolve: () => [...rows.slice(0, 20), Promise.reject(new Error('not this one')), rows[20]],
  };
  const few = { type: new GraphQLList(row), resolve: () => rows.slice(0, 20) };
  const query = new GraphQLObjectType({ name: 'Query', fields: { list, later, failing, few } });
  const schema = withSlicedLists(new GraphQLSchema({ query }));
  const slices = new Slices(10_000);
  return {
    answeredIn,
    ask: (document: string, { signal } = new AbortController()) => {
      const contextValue = { unify: { slices, scope: { operationKey: {}, signal } } };
      return Promise.resolve(execute({ schema, document: parse(document), contextValue }));
    },
    [Symbol.dispose]: () => clearImmediate(counting),
  };
}

describe('a list of thousands', () => {
  it.each(['list', 'later'])(
    'is answered whole and in order, some of it in each iteration: %s',
    async (field) => {
      using w = world();
      const { data, errors } = await w.ask(`{ ${field} { n } }`);
      expect(errors).toBeUndefined();
      expect(data?.[field]).toEqual(rows);
      expect(Math.max(...w.answeredIn.values())).toBeLessThanOrEqual(5_000);
    },
  );

  it('is not worked on once its client has gone', async () => {
    using w = world();
    const client = new AbortController();
    const asked = w.ask('{ list { n } }', client);
    client.abort(new Error('gone'));
    const { errors } = await asked;
    expect(errors?.[0]?.message).toBe('gone');
    // The slice that had begun already.
    expect(w.answeredIn.size).toBeLessThanOrEqual(1);
  });

  it('waits with an item that failed, which is null with its error like any other', async () => {
    using w = world();
    const [, { data, errors }] = await Promise.all([w.ask('{ list { n } }'), w.ask('{ failing { n } }')]);
    expect(data?.failing).toEqual([...rows.slice(0, 20), null, rows[20]]);
    expect(errors?.map(({ message, path }) => [message, path])).toEqual([['not this one', ['failing', 20]]]);
  });

  it('and another of them share the slices, so that a small one does not wait for a large one', async () => {
    using w = world();
    const large = w.ask('{ a: list { n } b: list { n } c: later { n } }');
    const order: string[] = [];
    await Promise.all([
      large.then(() => order.push('large')),
      w.ask('{ few { n } }').then(() => order.push('small')),
    ]);
    expect(order).toEqual(['small', 'large']);
    expect(Math.max(...w.answeredIn.values())).toBeLessThanOrEqual(5_020);
  });
});

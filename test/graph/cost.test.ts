import {
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { cost } from '../../src/graph/limits/cost.js';
import { estimateCost } from '../../src/graph/limits/estimate.js';

const node = new GraphQLInterfaceType({ name: 'Node', fields: { id: { type: GraphQLString } } });
const sensor: GraphQLObjectType = new GraphQLObjectType({
  name: 'Sensor',
  interfaces: [node],
  fields: () => ({
    id: { type: GraphQLString },
    report: { type: GraphQLString, extensions: cost({ requests: (_args, parents) => parents }) },
    network: { type: GraphQLString, extensions: cost({ requests: () => 1 }) },
    neighbours: { type: new GraphQLList(sensor), extensions: cost({ items: () => 3 }) },
  }),
});
const schema = new GraphQLSchema({
  types: [sensor],
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      sensors: {
        type: new GraphQLList(sensor),
        args: { first: { type: GraphQLInt, defaultValue: 50 } },
        extensions: cost<{ first: number }>({
          requests: ({ first }) => Math.ceil(first / 500),
          items: ({ first }) => first,
        }),
      },
      node: { type: node, extensions: cost({ requests: () => 1 }) },
    },
  }),
});

const estimate = (query: string, variableValues: Record<string, unknown> = {}) =>
  estimateCost({ schema, document: parse(query), variableValues }).requests;

describe('the estimate of an operation', () => {
  it.each([
    ['{ __typename }', 0],
    ['{ sensors { id } }', 1],
    ['{ sensors { network } }', 1 + 1],
    ['{ sensors { report } }', 1 + 50],
    ['{ sensors(first: 7) { report network } }', 1 + 7 + 1],
    ['{ sensors(first: 7) { neighbours { report } } }', 1 + 21],
    ['{ a: sensors(first: 2) { report } b: sensors(first: 3) { report } }', 1 + 2 + 1 + 3],
    ['{ sensors { ...f } } fragment f on Sensor { report }', 1 + 50],
    ['{ sensors { ... on Sensor { report } ... { network } } }', 1 + 50 + 1],
    ['{ node { id ... on Sensor { report } } }', 1 + 1],
    ['{ node { ...f } } fragment f on Sensor { report }', 1 + 1],
    ['{ sensors { report @skip(if: true) network @include(if: false) } }', 1],
  ])('%s is %i requests at worst', (query, expected) => {
    expect(estimate(query)).toBe(expected);
  });

  it.each([
    ['{ __typename }', 0],
    ['{ sensors(first: 7) { id report } node { id } }', 7 * 2],
    ['{ sensors(first: 7) { id neighbours { id } } }', 7 + 7 * 3],
    ['{ a: sensors(first: 2) { ...f } } fragment f on Sensor { report network }', 2 * 2],
  ])('%s is %i values at worst', (query, expected) => {
    expect(estimateCost({ schema, document: parse(query) }).values).toBe(expected);
  });

  it('counts with the values of variables and their defaults', () => {
    const query =
      'query ($first: Int = 4, $all: Boolean = true) { sensors(first: $first) { report @include(if: $all) } }';
    expect(estimate(query)).toBe(1 + 4);
    expect(estimate(query, { first: 9 })).toBe(1 + 9);
    expect(estimate(query, { first: 9, all: false })).toBe(1);
  });
});

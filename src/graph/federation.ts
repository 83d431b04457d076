import {
  extendSchema,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isUnionType,
  parse,
  printSchema,
} from 'graphql';
import { BadUserInput } from '../errors.js';
import { limits } from '../limits.js';
import { promised } from '../maybe.js';
import { mostForNode } from './builder.js';
import type { GraphContext } from './context.js';
import { cost } from './limits/cost.js';
import { idOf } from './node-id.js';

const argument = 'representations';

/** A key of an entity: how to read the entity by it, and the worst-case upstream requests for `count` of them. */
interface Key {
  readonly lookup: (value: string) => Lookup;
  readonly requests: (count: number) => number;
}

/** A root field that reads one entity, and its arguments. */
interface Lookup {
  readonly field: string;
  readonly args: object;
}

const entities: Readonly<Record<string, Readonly<Record<string, Key>>>> = {
  Event: {
    id: globalId('Event'),
    projectEventId: key((projectEventId) => ({ field: 'event', args: { by: { projectEventId } } }), 4),
    catalogueEventId: key((catalogueEventId) => ({ field: 'event', args: { by: { catalogueEventId } } }), 4),
  },
  Network: {
    id: globalId('Network'),
    networkId: key((networkId) => ({ field: 'network', args: { networkId } }), 2),
  },
  Project: { id: globalId('Project') },
  Sensor: {
    id: globalId('Sensor'),
    deviceId: {
      lookup: (deviceId) => ({ field: 'sensor', args: { by: { deviceId } } }),
      // Look-ups by Device ID share pages of the list of sensors (docs/behaviour.md 5.4).
      requests: (count) => Math.min(count, 2) * 2,
    },
  },
  Trigger: { id: globalId('Trigger') },
};

function globalId(typename: string): Key {
  const lookup = (id: string) => {
    idOf(typename, id, argument);
    return { field: 'node', args: { id } };
  };
  return key(lookup, mostForNode);
}

function key(lookup: (value: string) => Lookup, requestsEach: number): Key {
  return { lookup, requests: (count) => count * requestsEach };
}

interface Representations {
  readonly representations: readonly unknown[];
}

/**
 * Makes the graph a subgraph of Apollo Federation 2 (docs/behaviour.md 10): `_service` gives its SDL, and `_entities`
 * reads what a router names by a key, with the resolvers of the root fields. Apollo's library for subgraphs declares a
 * later Node than the gateway runs on, and takes SDL rather than a schema that exists.
 */
export function withEntities(schema: GraphQLSchema): GraphQLSchema {
  const sdl = `${printSchema(schema)}\n\n${federationSdl()}\n`;
  const subgraph = extendSchema(schema, parse(entitySdl()));
  const fields = subgraph.getQueryType()?.getFields();
  const union = subgraph.getType('_Entity');
  if (!fields?._service || !fields._entities || !isUnionType(union))
    throw new Error('The subgraph is incomplete');
  // A record does not say of which type it is; its representation did.
  const typenames = new WeakMap<object, string>();
  union.resolveType = (record) => typenames.get(record as object);
  fields._service.resolve = () => ({ sdl });

  async function read(representation: unknown, context: GraphContext, info: GraphQLResolveInfo) {
    const { typename, key, value } = keyOf(representation);
    const { field, args } = key.lookup(value);
    const record: unknown = await promised(() =>
      fields?.[field]?.resolve?.(undefined, args, context, info),
    ).catch((error: unknown) => {
      // The argument of the root field is none of this one.
      throw error instanceof BadUserInput ? new BadUserInput(error.message, { argument }) : error;
    });
    if (typeof record === 'object' && record !== null) typenames.set(record, typename);
    return record;
  }

  fields._entities.resolve = (_, args: Representations, context: GraphContext, info) => {
    const { representations } = args;
    if (isTooMany(args)) {
      throw wrong(
        `has ${representations.length} entries; at most ${limits.nodeIds} can be asked for at once`,
      );
    }
    // The executor reports an Error in the list at its path, so that the other entities are answered.
    return Promise.all(
      representations.map((one) => read(one, context, info).catch((error: unknown) => error)),
    );
  };
  fields._entities.extensions = cost<Representations>({
    requests: requestsOf,
    items: (args) => (isTooMany(args) ? 0 : args.representations.length),
  });
  return subgraph;
}

/** Equal representations share a look-up. Zero where the resolver refuses what is asked for: it can name what is wrong. */
function requestsOf(args: Representations): number {
  const values = new Map<Key, Set<string>>();
  for (const representation of isTooMany(args) ? [] : args.representations) {
    const named = keyIfAny(representation);
    if (named) values.set(named.key, (values.get(named.key) ?? new Set()).add(named.value));
  }
  return [...values].reduce((sum, [key, { size }]) => sum + key.requests(size), 0);
}

function keyIfAny(representation: unknown): ReturnType<typeof keyOf> | null {
  try {
    return keyOf(representation);
  } catch {
    return null;
  }
}

function keyOf(representation: unknown): { typename: string; key: Key; value: string } {
  const values = representation as Readonly<Record<string, unknown>> | null;
  const typename = values?.__typename;
  if (typeof typename !== 'string') throw wrong('needs objects with a `__typename`');
  const keys = Object.hasOwn(entities, typename) ? entities[typename] : undefined;
  if (!keys) throw wrong(`names a type that is no entity; these are ${Object.keys(entities).join(', ')}`);
  for (const [name, key] of Object.entries(keys)) {
    const value = values?.[name];
    if (typeof value === 'string') return { typename, key, value };
  }
  throw wrong(`has a ${typename} without a key, which is ${Object.keys(keys).join(' or ')}`);
}

function isTooMany({ representations }: Representations): boolean {
  return representations.length > limits.nodeIds;
}

function wrong(problem: string): BadUserInput {
  return new BadUserInput(`\`${argument}\` ${problem}`, { argument });
}

function entitySdl(): string {
  return `
    "A representation of an entity: an object with its \`__typename\` and the fields of one of its keys."
    scalar _Any
    "An object that another subgraph can name by a key."
    union _Entity = ${Object.keys(entities).join(' | ')}
    "Description of this subgraph for composition."
    type _Service {
      "The graph in SDL with the directives of Apollo Federation 2."
      sdl: String!
    }
    extend type Query {
      "Entities by their representations, in the order of these; null in the place of each that does not exist. Estimated at up to four requests to the service for each, and at four for all sensors that are named by Device ID. Errors: BAD_USER_INPUT in the place of a representation that is none, or for more than ${limits.nodeIds}; QUERY_TOO_COMPLEX for fewer where the estimate is over the limit."
      _entities("Representations, at most ${limits.nodeIds}." representations: [_Any!]!): [_Entity]!
      "Description of this subgraph for composition."
      _service: _Service!
    }`;
}

function federationSdl(): string {
  const keys = Object.entries(entities).map(
    ([typename, keys]) =>
      `extend type ${typename} ${Object.keys(keys)
        .map((key) => `@key(fields: "${key}")`)
        .join(' ')}`,
  );
  return [
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])',
    ...keys,
    // Other subgraphs with connections have this type too, with the same meaning.
    'extend type PageInfo @shareable',
  ].join('\n');
}

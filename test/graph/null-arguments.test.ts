import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/graph/schema.js';
import { livingWorld } from '../../src/sandbox/simulation/living-world.js';
import { type Answer, startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

let gw: TestGateway;
beforeAll(async () => {
  const world = livingWorld({ seed: 1, startMs: Date.now() });
  gw = await startGateway({
    sandbox: { world, rateLimits: false },
    env: { CATALOGUE_TIER: 'premium', PROJECT_RATE_PER_MINUTE: '600000', EVENT_POLL_INTERVAL_MS: '250' },
  });
});
afterAll(() => gw.close());

/** A place where the graph takes a value: an argument, or a field of an input object in one. */
interface Place {
  /** As `extensions.argument` has it. */
  readonly path: string;
  readonly type: GraphQLInputType;
  /** The whole operation, with a value put in its place; `definitions` of its variables. */
  operation(value: string, definitions?: string): string;
}

const placeholder = '$$';

/** Every argument of the graph, and every field of their input objects, however deep. */
function everyPlace(): Place[] {
  const roots = [schema.getQueryType(), schema.getSubscriptionType()].filter((type) => type != null);
  return roots.flatMap((root) => {
    const kind = root.name === 'Query' ? 'query' : 'subscription';
    return reached(root).flatMap(({ type, around }) =>
      Object.values(type.getFields()).flatMap((field) =>
        field.args.flatMap((argument) =>
          placesIn(argument).map(({ path, type: inputType, literal }) => {
            const others = field.args.filter((other) => other !== argument && isRequiredArgument(other));
            const given = [`${argument.name}: ${literal}`, ...others.map(required)].join(', ');
            const text = around(`${field.name}(${given})${selectionOf(getNamedType(field.type))}`);
            return {
              path: `${type.name}.${field.name} ${path}`,
              type: inputType,
              operation: (value: string, definitions = '') =>
                `${kind} ${definitions} { ${text.replace(placeholder, value)} }`,
            };
          }),
        ),
      ),
    );
  });
}

interface Reached {
  readonly type: GraphQLObjectType;
  readonly around: (selection: string) => string;
}

/** Each object type once, by the shortest way from the root: through lists, as look-ups would need records that exist. */
function reached(root: GraphQLObjectType): Reached[] {
  const found: Reached[] = [{ type: root, around: (selection) => selection }];
  const seen = new Set([root.name]);
  for (const { type, around } of found) {
    // Subscriptions deliver types that queries reach as well.
    if (root.name === 'Subscription') break;
    const fields = Object.values(type.getFields());
    for (const field of type === root ? fields.filter(isList) : fields) {
      const inner = getNamedType(field.type);
      if (!isObjectType(inner) || seen.has(inner.name) || inner.name.startsWith('__')) continue;
      seen.add(inner.name);
      const needed = field.args.filter(
        (argument) => isRequiredArgument(argument) || argument.name === 'first',
      );
      const given = needed.length > 0 ? `(${needed.map(required).join(', ')})` : '';
      found.push({
        type: inner,
        around: (selection) => around(`${field.name}${given} { ${selection} }`),
      });
    }
  }
  return found;
}

const isList = ({ args }: { readonly args: readonly GraphQLArgument[] }) =>
  args.length === 0 || args.some(({ name }) => name === 'first');

interface Nested {
  readonly path: string;
  readonly type: GraphQLInputType;
  readonly literal: string;
}

function placesIn({ name, type }: Pick<GraphQLArgument, 'name' | 'type'>): Nested[] {
  const own: Nested = { path: name, type, literal: placeholder };
  const named = getNullableType(type);
  if (isListType(named)) return [own, { path: name, type: named.ofType, literal: `[${placeholder}]` }];
  if (!isInputObjectType(named)) return [own];
  const fields = Object.values(named.getFields());
  const inner = fields.flatMap((field) => {
    const others = fields.filter((other) => other !== field && isRequiredInputField(other)).map(required);
    return placesIn(field).map((place) => ({
      ...place,
      path: `${name}.${place.path}`,
      literal: `{ ${[`${field.name}: ${place.literal}`, ...others].join(', ')} }`,
    }));
  });
  return [own, ...inner];
}

const literals: Readonly<Record<string, string>> = {
  first: '3',
  by: '{ stationCode: "NONE" }',
  id: '"UHJvamVjdDox"',
  ids: '[]',
  networkId: '"N1"',
  channel: 'HNZ',
  start: '"2026-01-01T00:00:00Z"',
  end: '"2026-01-01T00:00:10Z"',
  networkCode: '"XX"',
  stationCode: '"NONE"',
  from: '{ latitude: 34, longitude: -117 }',
  latitude: '34',
  longitude: '-117',
  radiusKm: '100',
  minLatitude: '30',
  maxLatitude: '40',
  minLongitude: '-120',
  maxLongitude: '-110',
};

function required({ name }: { readonly name: string }): string {
  const literal = literals[name];
  if (literal === undefined) throw new Error(`A new required argument: give \`${name}\` a value here`);
  return `${name}: ${literal}`;
}

const selectionOf = (type: unknown) => (isObjectType(type) || !isLeaf(type) ? ' { __typename }' : '');
const isLeaf = (type: unknown) => 'parseValue' in (type as object);

const places = everyPlace();

describe('null, at every place where the graph takes a value', () => {
  it('is tried at a hundred places and more', () => {
    expect(places.length).toBeGreaterThan(100);
  });

  it.each(places.map((place) => [place.path, place] as const))('%s', async (path, { type, operation }) => {
    // A variable may be null where its type allows it, also before a default of the argument.
    const variable = String(getNullableType(type));
    const answers = [
      await errorsOf(operation('null')),
      await errorsOf(operation('$v', `($v: ${variable})`), { v: null }),
      await errorsOf(operation('$v', `($v: ${variable})`)),
    ];
    for (const { code, argument } of answers.flat()) {
      expect(code).toBe('BAD_USER_INPUT');
      // A `@oneOf` object is named as a whole.
      expect(`${path.split(' ')[1]}.`).toContain(`${argument}.`);
    }
    expect(gw.logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** Extensions of the errors; of a subscription those that it is refused with. */
async function errorsOf(query: string, variables?: object): Promise<{ code?: string; argument?: string }[]> {
  if (query.startsWith('query')) {
    const { errors = [] }: Answer = await gw.queryWithErrors(query, variables);
    return errors.map(({ extensions }) => extensions);
  }
  await using socket = await openSocket(gw, { init: {} });
  socket.send({ id: '1', type: 'subscribe', payload: { query, variables } });
  // A subscription that is accepted has no answer before its first change: the ping comes behind a refusal.
  socket.send({ id: '2', type: 'subscribe', payload: { query: '{ __typename }' } });
  for (let message = await socket.next(); message.id !== '2'; message = await socket.next()) {
    const errors = message.type === 'error' ? message.payload : message.payload?.errors;
    if (errors) return errors.map(({ extensions }: { extensions: object }) => extensions);
  }
  return [];
}

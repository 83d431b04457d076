import fc from 'fast-check';
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

/** What identifiers of the world the operations may name. */
export interface Names {
  readonly deviceIds: readonly string[];
  readonly stationCodes: readonly string[];
  readonly catalogueIds: readonly string[];
  readonly networkIds: readonly string[];
  readonly projectEventIds: readonly string[];
}

/** Random queries of this schema: a few fields of each type down to `depth`, with arguments that mean something. */
export function randomQuery(schema: GraphQLSchema, names: Names, depth = 4): fc.Arbitrary<string> {
  const root = schema.getQueryType();
  if (!root) throw new Error('A schema has queries');
  const roots = Object.values(root.getFields()).filter(
    ({ name }) => !['gateway', 'node', 'trigger'].includes(name),
  );
  return fc
    .uniqueArray(fc.constantFrom(...roots), { minLength: 1, maxLength: 2 })
    .chain((fields) => fc.tuple(...fields.map((field) => fieldText(field, names, depth))))
    .map((texts) => `{ ${texts.join(' ')} }`);
}

function fieldText(field: GraphQLField<unknown, unknown>, names: Names, depth: number): fc.Arbitrary<string> {
  const type = getNamedType(field.type);
  return argumentsText(field, names).chain((given) => {
    if (isLeafType(type)) return fc.constant(`${field.name}${given}`);
    if (isInterfaceType(type)) return fc.constant(`${field.name}${given} { __typename id }`);
    if (!isObjectType(type)) throw new Error(`${field.name} is of no type that is expected`);
    return selectionText(type, names, depth - 1).map((inner) => `${field.name}${given} ${inner}`);
  });
}

function selectionText(type: GraphQLObjectType, names: Names, depth: number): fc.Arbitrary<string> {
  const all = Object.values(type.getFields()).filter(({ name }) => !costly.has(`${type.name}.${name}`));
  const leaves = all.filter((field) => isLeafType(getNamedType(field.type)));
  const inner = depth > 0 ? all.filter((field) => !isLeafType(getNamedType(field.type))) : [];
  const isConnection = type.name.endsWith('Connection');
  const some = (fields: typeof all, maxLength: number, minLength = 0) =>
    fields.length === 0
      ? fc.constant([])
      : fc.uniqueArray(fc.constantFrom(...fields), {
          minLength: Math.min(minLength, fields.length),
          maxLength,
        });
  return fc
    .tuple(some(leaves, 5), some(inner, 2, isConnection ? 1 : 0))
    .chain(([plain, nested]) =>
      fc.tuple(...[...plain, ...nested].map((field) => fieldText(field, names, depth))),
    )
    .map((texts) => `{ __typename ${texts.join(' ')} }`);
}

// These read one response for each of many records, or speak of the gateway itself.
const costly = new Set([
  'TriggerConnection.changesCursor',
  'EventConnection.changesCursor',
  'SensorConnection.changesCursor',
]);

function argumentsText(field: GraphQLField<unknown, unknown>, names: Names): fc.Arbitrary<string> {
  const chosen = field.args.map((argument) => {
    const values = valuesOf(field.name, argument.name, names);
    const value = values.length > 0 ? fc.constantFrom(...values) : fc.constant(null);
    const text = value.map((literal) => (literal === null ? '' : `${argument.name}: ${literal}`));
    return isRequiredArgument(argument) || argument.name === 'first'
      ? text
      : fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: text });
  });
  return fc
    .tuple(...chosen)
    .map((texts) => texts.filter((text) => text !== ''))
    .map((texts) => (texts.length > 0 ? `(${texts.join(', ')})` : ''));
}

function valuesOf(field: string, argument: string, names: Names): readonly string[] {
  const quoted = (texts: readonly string[]) => texts.map((text) => JSON.stringify(text));
  switch (argument) {
    case 'first':
      return ['1', '3'];
    case 'filter':
      if (field === 'sensors') return ['{ status: ONLINE }', '{ source: PROJECT }', within];
      if (field === 'triggers') return ['{ status: CLOSED }', '{ minPgaMg: 1 }'];
      return ['{ minMagnitude: 2 }', '{ source: CATALOGUE }', within];
    case 'by':
      return field === 'sensor'
        ? [
            ...quoted(names.deviceIds).map((id) => `{ deviceId: ${id} }`),
            ...quoted(names.stationCodes).map((code) => `{ stationCode: ${code} }`),
            ...quoted(names.catalogueIds).map((id) => `{ catalogueId: ${id} }`),
          ]
        : quoted(names.projectEventIds).map((id) => `{ projectEventId: ${id} }`);
    case 'networkId':
      return quoted(names.networkIds);
    case 'unit':
      return field === 'pgvEhz' ? ['CM_PER_S'] : ['GAL', 'PERCENT_G'];
    case 'from':
      return field === 'distanceKm' ? ['{ latitude: 34, longitude: -117 }'] : [];
    case 'points':
      return ['10'];
    case 'channel':
      return ['HNZ'];
    case 'start':
      return ['"2025-12-31T23:00:00Z"'];
    case 'end':
      return ['"2025-12-31T23:00:10Z"'];
    case 'ids':
      return ['[]'];
    default:
      return [];
  }
}

const within = '{ within: { latitude: 34, longitude: -117, radiusKm: 100 } }';

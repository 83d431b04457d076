import { type GraphQLSchema, isObjectType } from 'graphql';
import { BadUserInput } from '../errors.js';
import { type Maybe, whenKnown } from '../maybe.js';

/** Global id of a record: opaque to clients, and the same on every path to the record. */
export function encodeNodeId(typename: string, id: string): string {
  return Buffer.from(`${typename}:${id}`).toString('base64url');
}

/** @throws BadUserInput when the text is no global id of this graph. */
export function decodeNodeId(globalId: string, argument = 'id'): { typename: string; id: string } {
  const text = Buffer.from(globalId, 'base64url').toString('utf8');
  const colon = text.indexOf(':');
  const typename = text.slice(0, Math.max(0, colon));
  if (!nodeTypes.has(typename) || encodeNodeId(typename, text.slice(colon + 1)) !== globalId) {
    throw new BadUserInput(
      `\`${argument}\`: not a global id; pass the \`id\` that a node of this graph gave`,
      {
        argument,
      },
    );
  }
  return { typename, id: text.slice(colon + 1) };
}

// Checked here, because Pothos reports an id of an unknown type as a fault of the schema.
const nodeTypes: ReadonlySet<string> = new Set(['Project', 'Sensor', 'Event', 'Trigger', 'Network']);

/** The `id` option of a node: its key, which is the part of the global id after the type. */
export function nodeKey<T>(keyOf: (record: T) => Maybe<string>) {
  return { resolve: keyOf, extensions: { nodeKey: keyOf } };
}

/** Resolves ids of nodes synchronously where the key is in memory: Pothos would create a promise for each. */
export function withGlobalIds(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    const id = isObjectType(type) ? type.getFields().id : undefined;
    const keyOf = id?.extensions.nodeKey as ((record: unknown) => Maybe<string>) | undefined;
    if (id && keyOf) id.resolve = (record) => whenKnown(keyOf(record), (key) => encodeNodeId(type.name, key));
  }
  return schema;
}

/** The key in a global id, for look-ups that accept ids of one type only. */
export function idOf(typename: string, globalId: string, argument: string): string {
  const decoded = decodeNodeId(globalId, argument);
  if (decoded.typename !== typename) {
    throw new BadUserInput(`\`${argument}\` is the id of a ${decoded.typename}, not of a ${typename}`, {
      argument,
    });
  }
  return decoded.id;
}

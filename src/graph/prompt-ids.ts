import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import { type Maybe, whenKnown } from '../maybe.js';
import { encodeNodeId } from './node-id.js';

/** As `builder.node` is given it. */
interface NodeOptions {
  readonly id?: { readonly resolve?: (node: unknown) => Maybe<unknown> };
}

/**
 * The schema with the global ids of its nodes given at once: Pothos resolves each by two async functions, which made every
 * record of a list a promise.
 */
export function withPromptIds(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    const idOf = idResolverOf(type);
    const field = type.getFields().id;
    if (!idOf || !field) continue;
    field.resolve = (node) => whenKnown(idOf(node), (id) => encodeNodeId(type.name, String(id)));
  }
  return schema;
}

function idResolverOf(type: GraphQLObjectType): ((node: unknown) => Maybe<unknown>) | undefined {
  const isNode = type.getInterfaces().some(({ name }) => name === 'Node');
  return isNode ? (type.extensions.pothosOptions as NodeOptions | undefined)?.id?.resolve : undefined;
}

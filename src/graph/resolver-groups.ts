import type { GraphQLSchema } from 'graphql';
import { wrapResolvers } from './wrap-resolvers.js';

/** Runs a resolver as part of a group: all resolvers of the same field in one operation. */
export type InGroup = (group: string, resolve: () => unknown) => unknown;

interface Grouping {
  readonly inGroup?: InGroup | undefined;
}

/** Runs every field with a cost hint through the context's `inGroup`, if there is one: for traces. */
export function withResolverGroups(schema: GraphQLSchema): GraphQLSchema {
  return wrapResolvers<Grouping>(schema, (resolve, field, typeName) => {
    if (!field.extensions.upstreamCost) return null;
    const group = `${typeName}.${field.name}`;
    return (parent, args, context, info) =>
      context.inGroup
        ? context.inGroup(group, () => resolve(parent, args, context, info))
        : resolve(parent, args, context, info);
  });
}

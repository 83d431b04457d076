import { defaultFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';

/** Runs a resolver as part of a group: all resolvers of the same field in one operation. */
export type InGroup = (group: string, resolve: () => unknown) => unknown;

interface Grouping {
  readonly inGroup?: InGroup | undefined;
}

/** Runs every field with a cost hint through the context's `inGroup`, if there is one: for traces. */
export function withResolverGroups(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!field.extensions.upstreamCost) continue;
      const resolve = field.resolve ?? defaultFieldResolver;
      const group = `${type.name}.${field.name}`;
      field.resolve = (parent, args, context: Grouping, info) =>
        context.inGroup
          ? context.inGroup(group, () => resolve(parent, args, context, info))
          : resolve(parent, args, context, info);
    }
  }
  return schema;
}

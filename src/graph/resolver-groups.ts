import { defaultFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';

/** Runs what a field resolves to, as one of the group of all resolvers of this field in one operation. */
export type InGroup = (group: string, resolve: () => unknown) => unknown;

interface Grouping {
  readonly inGroup?: InGroup | undefined;
}

/** The schema with every field that can ask upstream run by the context's `inGroup`, where it has one: for traces. */
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

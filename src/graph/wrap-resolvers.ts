import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';

/** A resolver of any field: parent and arguments are those of its own type. */
// biome-ignore lint/suspicious/noExplicitAny: arguments differ from field to field
type Resolver<Context> = GraphQLFieldResolver<unknown, Context, any>;

/**
 * Wraps the resolvers of a schema, in place: `wrapperFor` returns the new resolver of a field, or null to keep the one that
 * it has. The fields of introspection stay as they are.
 */
export function wrapResolvers<Context>(
  schema: GraphQLSchema,
  wrapperFor: (
    resolve: Resolver<Context>,
    field: GraphQLField<unknown, Context>,
    typeName: string,
  ) => Resolver<Context> | null,
): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const wrapper = wrapperFor(field.resolve ?? defaultFieldResolver, field, type.name);
      if (wrapper !== null) field.resolve = wrapper;
    }
  }
  return schema;
}

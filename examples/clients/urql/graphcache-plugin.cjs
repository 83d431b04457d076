// A plugin of codegen: what graphcache has to know of the schema. It warns of every type without an id that `keys` lacks.
const { introspectionFromSchema, isObjectType } = require('graphql');
const { minifyIntrospectionQuery } = require('@urql/introspection');

module.exports.plugin = (schema) => {
  const roots = [schema.getQueryType(), schema.getSubscriptionType()];
  const withoutId = Object.values(schema.getTypeMap()).filter(
    (type) =>
      isObjectType(type) &&
      !type.name.startsWith('__') &&
      !roots.includes(type) &&
      !('id' in type.getFields()),
  );
  return JSON.stringify({
    schema: minifyIntrospectionQuery(introspectionFromSchema(schema, { descriptions: false })),
    withoutId: withoutId.map(({ name }) => name),
  });
};

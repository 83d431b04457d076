import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from './schema.js';

/** The graph as SDL, sorted, so that it does not depend on the order of imports. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from './schema.js';

/** The graph as SDL, in an order that does not depend on which file is imported first. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

import type { FormattedExecutionResult } from 'graphql';
import { GraphError } from './errors.js';

/** An answer that has data, whole or in part. */
export interface Answer<Data> {
  readonly data: Data;
  /** There is one for each value that is null because it could not be read. */
  readonly errors: readonly GraphError[];
}

/** Throws the first error where there is no data at all. */
export function answerOf<Data>({ data, errors = [] }: FormattedExecutionResult): Answer<Data> {
  const all = errors.map((error) => new GraphError(error));
  if (data !== null && data !== undefined) return { data: data as Data, errors: all };
  throw all[0] ?? new GraphError({ message: 'The response has neither data nor errors' });
}

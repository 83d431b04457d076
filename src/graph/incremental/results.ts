import type { ExecutionResult, GraphQLError } from 'graphql';

/** One payload of an answer in parts: the first has `data`, the following have `incremental`. */
export interface ExecutionPart extends ExecutionResult {
  readonly hasNext?: boolean;
  readonly incremental?: readonly IncrementalPart[];
}

/** A deferred fragment (`data`) or items of a streamed list (`items`), which belong at `path`. */
interface IncrementalPart extends ExecutionResult {
  readonly items?: readonly unknown[] | null;
  readonly path?: readonly (string | number)[];
  readonly label?: string;
}

type Errors = readonly GraphQLError[];

/** The payload with its errors changed, those of its parts included. */
export function withErrors<Part extends ExecutionPart>(part: Part, change: (errors: Errors) => Errors): Part {
  const { errors, incremental } = part;
  if (!errors && !incremental) return part;
  return {
    ...part,
    ...(errors && { errors: change(errors) }),
    ...(incremental && { incremental: incremental.map((one) => withErrors(one, change)) }),
  };
}

import type { ExecutionResult, GraphQLError } from 'graphql';

/** One result for many subscribers, serialised to JSON once. */
export class SharedResult {
  readonly #result: ExecutionResult;
  #json: string | undefined;

  constructor({ data, errors }: ExecutionResult) {
    this.#result = {
      ...(errors && { errors: errors.map(withoutHttp) }),
      ...(data !== undefined && { data }),
    };
  }

  /** For transports that take results one by one: `jsonOfResult` knows it again. */
  get result(): ExecutionResult {
    // Not in the constructor: most results are sent as text, and a weak map of thousands delays the garbage collector.
    known.set(this.#result, this);
    return this.#result;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.#result);
    return this.#json;
  }
}

const known = new WeakMap<ExecutionResult, SharedResult>();

/** The result of a subscription as JSON. It is serialised once for all subscribers, unless it was changed for this one. */
export function jsonOfResult(result: ExecutionResult): string {
  return known.get(result)?.json ?? JSON.stringify(result);
}

// HTTP status and headers do not apply: the response of a stream has already begun.
function withoutHttp(error: GraphQLError): GraphQLError {
  delete error.extensions.http;
  return error;
}

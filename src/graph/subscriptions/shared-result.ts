import type { ExecutionResult, GraphQLError } from 'graphql';

/** One result for many subscribers, written as JSON once. */
export class SharedResult {
  readonly #result: ExecutionResult;
  #json: string | undefined;
  #bytes: Uint8Array | undefined;

  constructor({ data, errors }: ExecutionResult) {
    this.#result = {
      ...(errors && { errors: errors.map(withoutHttp) }),
      ...(data !== undefined && { data }),
    };
  }

  /** Whoever writes results by themselves, as the server for server-sent events does, takes the text that is there. */
  get result(): ExecutionResult {
    return Object.defineProperty({ ...this.#result }, 'stringify', {
      value: () => this.#text,
      enumerable: false,
    });
  }

  get bytes(): Uint8Array {
    this.#bytes ??= Buffer.from(this.#json ?? JSON.stringify(this.#result));
    return this.#bytes;
  }

  get #text(): string {
    this.#json ??= JSON.stringify(this.#result);
    return this.#json;
  }
}

// Status and headers are for a response of HTTP, which a stream has long begun.
function withoutHttp(error: GraphQLError): GraphQLError {
  delete error.extensions.http;
  return error;
}

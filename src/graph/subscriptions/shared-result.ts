import type { ExecutionResult, GraphQLError } from 'graphql';

/** One result for many subscribers, serialised to JSON once. */
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

  /** For transports that serialise results themselves: Yoga's server-sent events use `stringify`, the cached text. */
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

// HTTP status and headers do not apply: the response of a stream has already begun.
function withoutHttp(error: GraphQLError): GraphQLError {
  delete error.extensions.http;
  return error;
}

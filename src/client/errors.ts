import type { GraphQLFormattedError } from 'graphql';

/** An error of the gateway, or of the way to it; docs/frontends.md lists the codes. */
export class GraphError extends Error {
  override readonly name = 'GraphError';
  readonly code: string;
  /** Path in the data of the value that is null because of it; null where the error is about the whole operation. */
  readonly path: readonly (string | number)[] | null;
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(error: GraphQLFormattedError, options?: ErrorOptions) {
    super(error.message, options);
    const { code } = error.extensions ?? {};
    this.code = typeof code === 'string' ? code : badResponse;
    this.path = error.path ?? null;
    this.extensions = error.extensions ?? {};
  }

  /** Seconds after which the same request can succeed; null where the gateway names none. */
  get retryAfterS(): number | null {
    const { retryAfterS } = this.extensions;
    return typeof retryAfterS === 'number' ? retryAfterS : null;
  }

  /** The same request can succeed later. */
  get isPassing(): boolean {
    return this.retryAfterS !== null || passing.has(this.code);
  }
}

/** @param retryAfterS seconds that a proxy asks to wait; null where it names none */
export function networkError(
  message: string,
  cause?: unknown,
  retryAfterS: number | null = null,
): GraphError {
  const extensions = { code: 'NETWORK_ERROR', ...(retryAfterS !== null && { retryAfterS }) };
  return new GraphError({ message, extensions }, { cause });
}

const badResponse: GraphError['code'] = 'BAD_RESPONSE';

const passing: ReadonlySet<string> = new Set([
  'NETWORK_ERROR',
  'SHUTTING_DOWN',
  'FELL_BEHIND',
  'CLIENT_RATE_LIMITED',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
]);

import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type FormattedExecutionResult, type GraphQLFormattedError, print } from 'graphql';
import { createClient } from 'graphql-ws/client';

/** What could be answered, and an error for each value that could not. */
export interface Answer<Data> {
  readonly data: Data;
  readonly errors: readonly GraphError[];
}

/** An error of the gateway, or of the way to it; docs/frontends.md lists the codes. */
export class GraphError extends Error {
  readonly code: string;
  readonly retryAfterS: number | null;

  constructor({ message, extensions = {} }: Omit<GraphQLFormattedError, 'path' | 'locations'>) {
    super(message);
    this.code = typeof extensions.code === 'string' ? extensions.code : 'BAD_RESPONSE';
    this.retryAfterS = typeof extensions.retryAfterS === 'number' ? extensions.retryAfterS : null;
  }
}

export interface RequestOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Answers a query. Throws `GraphError` where nothing could be answered, and the signal's reason where it aborts. */
export async function request<Data, Variables extends object>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { url, headers, signal }: RequestOptions,
): Promise<Answer<Data>> {
  const result = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query: print(document), variables }),
    signal,
  })
    .then((response): Promise<FormattedExecutionResult> => response.json())
    .catch(() => {
      signal.throwIfAborted();
      throw notConnected();
    });
  return answerOf<Data>(result);
}

export interface SubscribeOptions {
  readonly url: string;
  /** Begins behind this change; null begins with the changes from now on. */
  readonly cursor: string | null;
  readonly connectionParams: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/**
 * The changes of a feed, each once, through lost connections and restarts of the gateway, over a WebSocket. Ends when the
 * signal aborts; throws `GraphError` where another attempt would fail as well.
 */
export async function* subscribeWithResume<Data, Variables extends { after?: unknown }>(
  document: TypedDocumentNode<Data, Variables>,
  options: SubscribeOptions,
): AsyncGenerator<Answer<Data>> {
  const { signal, connectionParams } = options;
  const url = new URL(options.url, globalThis.location.href).href.replace(/^http/, 'ws');
  const query = print(document);
  let { cursor } = options;
  let failures = 0;
  while (!signal.aborted) {
    const socket = createClient({ url, connectionParams: { ...connectionParams }, retryAttempts: 0 });
    const leave = () => void socket.dispose();
    signal.addEventListener('abort', leave, { once: true });
    try {
      for await (const result of socket.iterate({ query, variables: { after: cursor } })) {
        const answer = answerOf<Data>(result as FormattedExecutionResult);
        yield answer;
        cursor = cursorOf(answer.data) ?? cursor;
        failures = 0;
      }
    } catch (error) {
      if (!signal.aborted) throwUnlessPassing(error);
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
    await pause(Math.random() * Math.min(longestPauseMs, 1_000 * 2 ** failures++), signal);
  }
}

const longestPauseMs = 30_000;

function cursorOf(data: unknown): string | null {
  const [change] = Object.values(data as Record<string, { readonly cursor?: string }>);
  return change?.cursor ?? null;
}

/** graphql-ws throws the errors of the operation, or the event with which the socket closed. */
function throwUnlessPassing(thrown: unknown): void {
  if (thrown instanceof GraphError) throw thrown;
  if (Array.isArray(thrown)) {
    const error = new GraphError(thrown[0]);
    if (error.retryAfterS === null && !passing.has(error.code)) throw error;
  } else if ((thrown as Partial<CloseEvent>).code === 4403) {
    throw new GraphError({
      message: 'The credential is refused',
      extensions: { code: 'UNAUTHENTICATED' },
    });
  }
}

const passing = new Set(['FELL_BEHIND', 'SHUTTING_DOWN', 'CLIENT_RATE_LIMITED', 'UPSTREAM_UNAVAILABLE']);

function answerOf<Data>({ data, errors = [] }: FormattedExecutionResult): Answer<Data> {
  const all = errors.map((error) => new GraphError(error));
  if (data !== null && data !== undefined) return { data: data as Data, errors: all };
  throw all[0] ?? notConnected();
}

const notConnected = () =>
  new GraphError({
    message: 'There is no connection to the gateway',
    extensions: { code: 'NETWORK_ERROR' },
  });

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}

import type { Client, Sink } from 'graphql-ws';
import type { Problem } from '../problems.js';
import type { TypedDocumentString } from './generated/graphql.js';

export interface Answer<Result> {
  readonly data?: Result | null;
  readonly errors?: readonly (Problem & { readonly message: string })[];
}

/** One request by `fetch`, naming its operation by the hash that codegen computed. Types follow from the document. */
export async function execute<Result, Variables>(
  gateway: string,
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Promise<Answer<Result>> {
  const response = await fetch(`${gateway}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ documentId: document.__meta__?.hash, variables }),
  });
  return (await response.json()) as Answer<Result>;
}

/** A subscription over a socket, named the same way. */
export function subscribe<Result, Variables extends Record<string, unknown>>(
  socket: Client,
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { next, error }: Pick<Sink<Answer<Result>>, 'next' | 'error'>,
): () => void {
  // The protocol wants a text; the gateway takes an empty one with an id.
  const payload = { query: '', documentId: document.__meta__?.hash, variables };
  return socket.subscribe(payload, {
    // A subscription that ends with an error, such as an expired cursor, has it in a last result without data.
    next: (answer) => (answer.data ? next(answer as Answer<Result>) : error(answer.errors)),
    error,
    complete() {},
  });
}

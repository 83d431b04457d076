import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { type Answer, answerOf } from './answer.js';
import { type Headers, post, resultIn } from './connection/post.js';

export interface RequestOptions {
  /** Address of the graph, with its path `/graphql`; it may be relative to the page in a browser. */
  readonly url: string;
  readonly headers?: Headers;
  readonly signal?: AbortSignal;
}

/** Answers a query. Throws `GraphError` where nothing could be answered, and the signal's reason where it aborts. */
export async function request<Data, Variables extends object>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { url, headers = {}, signal }: RequestOptions,
): Promise<Answer<Data>> {
  const operation = { query: print(document), variables };
  const accept = 'application/graphql-response+json, application/json';
  const response = await post(operation, { url, headers, accept, signal: signal ?? null });
  return answerOf<Data>(await resultIn(response));
}

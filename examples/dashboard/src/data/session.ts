import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type Answer, request } from '../../../../src/client/index.js';

/** Where the graph is, and who asks. */
export interface Session {
  ask<Data, Variables extends object>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    signal: AbortSignal,
  ): Promise<Answer<Data>>;
  /** The changes behind the cursor, each once, until the signal aborts. */
  follow<Data, Variables extends { after?: unknown }>(
    document: TypedDocumentNode<Data, Variables>,
    cursor: string | null,
    signal: AbortSignal,
    onConnection: (isConnected: boolean) => void,
  ): AsyncIterable<Answer<Data>>;
}

/** Credentials are held by the page alone, and are gone with it. */
export interface Credentials {
  readonly authorization: string;
  readonly catalogueKey: string;
}

// Not in the first script: feeds are followed once the lists are there.
const resumingClient = () => import('../../../../src/client/resume/subscribe-with-resume.js');

export function openSession({ authorization, catalogueKey }: Credentials): Session {
  // The page lies at `dashboard/`, beside the graph, also under the path prefix of a proxy.
  const url = new URL('../graphql', globalThis.location.href).href;
  const headers = {
    ...(authorization && { authorization }),
    ...(catalogueKey && { 'x-catalogue-key': catalogueKey }),
  };
  // Read beside the lists, not behind the coasts.
  resumingClient().catch(() => {});
  const connectionParams = { ...(authorization && { authorization }), ...(catalogueKey && { catalogueKey }) };
  return {
    ask: (document, variables, signal) => request(document, variables, { url, headers, signal }),
    async *follow(document, cursor, signal, onConnection) {
      const { subscribeWithResume } = await resumingClient();
      yield* subscribeWithResume(document, {
        url,
        cursor,
        transport: 'ws',
        connectionParams,
        signal,
        onConnection,
      });
    },
  };
}

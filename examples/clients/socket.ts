import { type Client, createClient, type FormattedExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';

/**
 * A client of graphql-ws whose subscriptions resume: after a lost connection or a restart of the gateway, each goes on
 * behind the last change that it got. Apollo Client, urql and Relay copy the variables once, so it is done below them.
 */
export function createSocket(gateway: string): Client {
  const client = createClient({
    url: `${gateway.replace(/^http/, 'ws')}/graphql`,
    // For Node; a browser has its own.
    webSocketImpl: WebSocket,
    // The default gives up after five attempts, about half a minute.
    retryAttempts: Number.POSITIVE_INFINITY,
  });
  return {
    ...client,
    subscribe(payload, sink) {
      const variables = { ...payload.variables };
      return client.subscribe<Record<string, unknown>, never>(
        { ...payload, variables },
        {
          next(result) {
            // Sent again with each connection. A subscription without cursors begins anew.
            variables.after = cursorOf(result) ?? variables.after;
            sink.next(result as Parameters<typeof sink.next>[0]);
          },
          error: (problem) => sink.error(problem),
          complete: () => sink.complete(),
        },
      );
    },
  };
}

function cursorOf({ data }: FormattedExecutionResult<Record<string, unknown>>): unknown {
  const [change] = Object.values(data ?? {});
  return (change as { cursor?: string } | undefined)?.cursor;
}

import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import type { ExecutionResult } from 'graphql-ws';
import { createSocket } from '../socket.js';
import graphcache from './generated/graphcache.json' with { type: 'json' };
import type { TriggerChangesSubscription } from './generated/operations.js';

/** Queries go over HTTP, subscriptions over one WebSocket, and all that has an id is in the cache once. */
export function createClient(gateway: string): Client {
  const socket = createSocket(gateway);
  const cache = cacheExchange({
    schema: graphcache.schema as never,
    // Without this graphcache warns of every such type: it keeps them inside what they belong to.
    keys: Object.fromEntries(graphcache.withoutId.map((type) => [type, () => null])),
    resolvers: {
      Query: { triggers: relayPagination(), sensors: relayPagination(), events: relayPagination() },
      Sensor: { triggers: relayPagination() },
    },
    updates: {
      Query: {
        // The first page read again begins the list anew: the pages behind the old one would leave a gap.
        triggers(_data, { after }, store) {
          if (after) return;
          for (const { fieldName, arguments: args } of store.inspectFields('Query'))
            if (fieldName === 'triggers' && args?.after) store.invalidate('Query', fieldName, args);
        },
      },
      Subscription: {
        // The triggers of the list have changed already, by their id; a new one goes before the first page.
        triggerChanges({ triggerChanges: { trigger } }: TriggerChangesSubscription, _args, store) {
          const pages = store.inspectFields('Query').filter(({ fieldName }) => fieldName === 'triggers');
          const links = pages.map(({ arguments: args }) => {
            const page = store.resolve('Query', 'triggers', args) as string;
            return { page, isFirst: !args?.after, nodes: store.resolve(page, 'nodes') as string[] };
          });
          const key = store.keyOfEntity({ __typename: 'Trigger', id: trigger.id }) as string;
          if (links.some(({ nodes }) => nodes.includes(key))) return;
          for (const { page, nodes } of links.filter(({ isFirst }) => isFirst))
            store.link(page, 'nodes', [key, ...nodes]);
        },
      },
    },
  });
  const live = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      subscribe: (sink) => ({
        unsubscribe: socket.subscribe(
          { query, variables: variables as Record<string, unknown> },
          {
            next: (result) => sink.next(result as ExecutionResult as Parameters<typeof sink.next>[0]),
            error: (problem) => sink.error(problem),
            complete: () => sink.complete(),
          },
        ),
      }),
    }),
  });
  return new Client({
    url: `${gateway}/graphql`,
    preferGetMethod: false,
    exchanges: [cache, fetchExchange, live],
  });
}

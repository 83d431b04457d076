import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import type { ExecutionResult } from 'graphql-ws';
import { placeOf } from '../place.js';
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
        // The triggers of the list have changed already, by their id; a new one goes to its place.
        triggerChanges({ triggerChanges: { trigger } }: TriggerChangesSubscription, _args, store) {
          const key = store.keyOfEntity({ __typename: 'Trigger', id: trigger.id }) as string;
          const pages = store
            .inspectFields('Query')
            .filter(({ fieldName }) => fieldName === 'triggers')
            .map(({ arguments: args }) => store.resolve('Query', 'triggers', args) as string)
            .map((page) => ({ page, nodes: store.resolve(page, 'nodes') as string[] }));
          if (pages.some(({ nodes }) => nodes.includes(key))) return;
          for (const { page, nodes } of pages) {
            const startTimes = nodes.map((node) => store.resolve(node, 'startTime') as string);
            // Only the last page can have room at its end.
            const hasNextPage = store.resolve(
              store.resolve(page, 'pageInfo') as string,
              'hasNextPage',
            ) as boolean;
            const place = placeOf(trigger.startTime, startTimes, hasNextPage);
            if (place !== null) return store.link(page, 'nodes', nodes.toSpliced(place, 0, key));
          }
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

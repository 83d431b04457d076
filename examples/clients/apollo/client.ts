import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createSocket } from '../socket.js';
import possible from './generated/possible-types.js';

/** Queries go over HTTP by their hash, subscriptions over one WebSocket. */
export function createClient(gateway: string, hash: PersistedQueryLink.Options): ApolloClient {
  const http = new PersistedQueryLink(hash).concat(new HttpLink({ uri: `${gateway}/graphql` }));
  const live = new GraphQLWsLink(createSocket(gateway));
  const isLive = ({ operationType }: ApolloLink.Operation) =>
    operationType === OperationTypeNode.SUBSCRIPTION;
  return new ApolloClient({
    link: ApolloLink.split(isLive, live, http),
    cache: new InMemoryCache({
      // `node(id:)` answers with one of several types.
      possibleTypes: possible.possibleTypes,
      // The arguments named are those that make another list; the others are pages of the same.
      typePolicies: {
        Query: {
          fields: {
            triggers: relayStylePagination(['filter', 'orderBy']),
            sensors: relayStylePagination(['filter', 'orderBy']),
            events: relayStylePagination(['filter', 'orderBy']),
          },
        },
        Sensor: { fields: { triggers: relayStylePagination(['filter', 'orderBy']) } },
      },
    }),
    // For `@defer`: the kind of parts that the gateway sends.
    incrementalHandler: new Defer20220824Handler(),
    clientAwareness: { name: 'triggers-page', version: '1.0.0' },
  });
}

import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import { type Client, createClient } from 'graphql-ws';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startSandbox } from '../../src/sandbox/server.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { addTrigger, polling, quick } from './live-gateway.js';

const query = `subscription Live($after: String) {
  triggerChanges(after: $after) { kind cursor replayed trigger { triggerId } }
}`;

interface Received {
  readonly triggerChanges: { readonly cursor: string; readonly trigger: { readonly triggerId: string } };
}

/** A screen that shows triggers, and holds its place. */
class Screen {
  readonly shown: string[] = [];
  after: string | null = null;

  readonly take = ({ data }: { data?: unknown }): void => {
    const { triggerChanges } = data as Received;
    this.shown.push(triggerChanges.trigger.triggerId);
    this.after = triggerChanges.cursor;
  };
}

const socketClient = (gw: TestGateway): Client =>
  createClient({
    url: `${gw.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 100,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 100)),
    shouldRetry: () => true,
  });

/** Subscribes; the variables are asked for again at each connection. */
const clients: Record<string, (gw: TestGateway, screen: Screen) => () => void> = {
  'the client of graphql-ws': (gw, screen) => {
    const client = socketClient(gw);
    const variables = {
      get after() {
        return screen.after;
      },
    };
    client.subscribe({ query, variables }, { next: screen.take, error: console.error, complete() {} });
    return () => void client.dispose();
  },

  'the client of graphql-sse': (gw, screen) => {
    const client = createSseClient({
      url: `${gw.url}/graphql`,
      retryAttempts: 100,
      retry: () => new Promise((resolve) => setTimeout(resolve, 100)),
    });
    const variables = {
      get after() {
        return screen.after;
      },
    };
    client.subscribe({ query, variables }, { next: screen.take, error: console.error, complete() {} });
    return () => client.dispose();
  },

  'Apollo Client': (gw, screen) => {
    const socket = socketClient(gw);
    const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });
    const variables = {
      get after() {
        return screen.after;
      },
    };
    const observed = client.subscribe({ query: gql(query), variables });
    const subscription = observed.subscribe((result) => screen.take(result));
    return () => {
      subscription.unsubscribe();
      void socket.dispose();
    };
  },

  urql: (gw, screen) => {
    const socket = socketClient(gw);
    const client = new UrqlClient({
      url: `${gw.url}/graphql`,
      exchanges: [
        subscriptionExchange({
          forwardSubscription: ({ query: text, variables }) => ({
            subscribe: (sink) => ({
              unsubscribe: socket.subscribe(
                { query: text ?? '', variables: { ...variables } },
                {
                  next: (result) => sink.next(result as Parameters<typeof sink.next>[0]),
                  error: (error) => sink.error(error),
                  complete: () => sink.complete(),
                },
              ),
            }),
          }),
        }),
      ],
    });
    const { unsubscribe } = client.subscription(query, { after: screen.after }).subscribe(screen.take);
    return () => {
      unsubscribe();
      void socket.dispose();
    };
  },
};

const reconnecting = Object.entries(clients).filter(([name]) => /graphql-/.test(name));

describe.each(Object.entries(clients))('%s', (_name, subscribe) => {
  it('shows each trigger once', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
    const screen = new Screen();
    const leave = subscribe(gw, screen);
    await polling(gw.sandbox);
    for (const id of [1, 2, 3]) addTrigger(gw.sandbox, { id });
    await expect.poll(() => screen.shown, { timeout: 20_000 }).toEqual(['1', '2', '3']);
    leave();
    await expect
      .poll(async () => (await gw.query('{ gateway { feeds { subscriberCount } } }')).gateway.feeds[0], {
        timeout: 20_000,
      })
      .toEqual({ subscriberCount: 0 });
  }, 60_000);
});

describe.each(reconnecting)('%s, reconnecting by itself', (_name, subscribe) => {
  it('goes on from its cursor when the gateway has restarted', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    const first = await startGateway({ behind: sandbox, env: quick });
    const screen = new Screen();
    const leave = subscribe(first, screen);
    await polling(sandbox);
    addTrigger(sandbox, { id: 1 });
    await expect.poll(() => screen.shown, { timeout: 20_000 }).toEqual(['1']);
    await first.close();
    addTrigger(sandbox, { id: 2 });
    await using second = await startGateway({
      behind: sandbox,
      env: { ...quick, PORT: new URL(first.url).port },
    });
    await expect.poll(() => screen.shown, { timeout: 20_000 }).toEqual(['1', '2']);
    addTrigger(sandbox, { id: 3 });
    await expect.poll(() => screen.shown, { timeout: 20_000 }).toEqual(['1', '2', '3']);
    expect(second.url).toBe(first.url);
    leave();
  }, 60_000);
});

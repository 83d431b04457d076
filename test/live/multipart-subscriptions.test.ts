import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway } from '../support/gateway.js';
import { openParts } from '../support/parts.js';
import { openSocket } from '../support/raw-socket.js';
import { addTrigger, polling, quick } from './live-gateway.js';

const accept = 'multipart/mixed;subscriptionSpec="1.0", application/json';
const query = 'subscription { triggerChanges { kind trigger { triggerId } } }';

describe('a subscription over multipart HTTP', () => {
  it('delivers each change in a part, with heartbeats between them', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
    const parts = await openParts(gw, query, { accept });
    expect([parts.response.status, parts.response.headers.get('content-type')]).toEqual([
      200,
      'multipart/mixed; boundary="-"; subscriptionSpec=1.0',
    ]);
    await polling(gw.sandbox);
    const { id } = addTrigger(gw.sandbox);
    const next = async () => {
      for (let part = await parts.next(); ; part = await parts.next()) {
        if (Object.keys(part).length > 0) return part;
      }
    };
    expect(await next()).toEqual({
      payload: { data: { triggerChanges: { kind: 'CLOSED', trigger: { triggerId: String(id) } } } },
    });
    // The first comes after 5 s without a change.
    expect(await parts.next()).toEqual({});
    const later = addTrigger(gw.sandbox, { id: 2 });
    expect((await next()).payload.data.triggerChanges.trigger.triggerId).toBe(String(later.id));
  }, 30_000);

  it('serialises each change once for all its clients, those of server-sent events among them', async () => {
    await using gw = await startGateway({ env: quick, isAlone: true, sandbox: { rateLimits: false } });
    using stringify = vi.spyOn(JSON, 'stringify');
    const streams = await Promise.all(
      [accept, accept, 'text/event-stream', 'text/event-stream'].map((one) =>
        openParts(gw, query, { accept: one }),
      ),
    );
    await polling(gw.sandbox);
    const { id } = addTrigger(gw.sandbox);
    const changes = await Promise.all(
      streams.map(async ({ next }) => {
        let payload = await next();
        while (Object.keys(payload).length === 0) payload = await next();
        return payload.payload ?? payload;
      }),
    );
    const change = { data: { triggerChanges: { kind: 'CLOSED', trigger: { triggerId: String(id) } } } };
    expect(changes).toEqual([change, change, change, change]);
    expect(stringify.mock.calls.filter(([value]) => value?.data?.triggerChanges)).toHaveLength(1);
  }, 30_000);

  it('reaches Apollo Client over its HttpLink', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
    const client = new ApolloClient({
      link: new HttpLink({ uri: `${gw.url}/graphql` }),
      cache: new InMemoryCache(),
    });
    const shown: string[] = [];
    const subscription = client
      .subscribe<{ triggerChanges: { trigger: { triggerId: string } } }>({ query: gql(query) })
      .subscribe(({ data }) => shown.push(data?.triggerChanges.trigger.triggerId ?? 'none'));
    await polling(gw.sandbox);
    const triggers = [addTrigger(gw.sandbox), addTrigger(gw.sandbox, { id: 2 })];
    await vi.waitFor(
      () => expect(shown.toSorted()).toEqual(triggers.map(({ id }) => String(id)).toSorted()),
      20_000,
    );
    subscription.unsubscribe();
    client.stop();
  });

  it('ends upstream when its client has gone', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, env: quick, isAlone: true });
    const leaving = new AbortController();
    await openParts(gw, query, { accept, signal: leaving.signal });
    const feeds = async () =>
      (await gw.query('{ gateway { feeds { name subscriberCount } } }')).gateway.feeds;
    await vi.waitFor(async () =>
      expect(await feeds()).toContainEqual({ name: 'triggerChanges', subscriberCount: 1 }),
    );
    leaving.abort();
    await vi.waitFor(async () =>
      expect(await feeds()).toContainEqual({ name: 'triggerChanges', subscriberCount: 0 }),
    );
  });

  it('is refused in one answer, with the error', async () => {
    await using gw = await startGateway({ env: quick });
    const { response } = await openParts(gw, 'subscription { triggerChanges(after: "none") { kind } }', {
      accept,
    });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'CURSOR_INVALID' } }] });
  });

  it('ends without its last boundary when the gateway stops, so that nobody takes it for complete', async () => {
    await using gw = await startGateway({ env: quick });
    const parts = await openParts(gw, query, { accept });
    const rest = parts.rest();
    rest.catch(() => {});
    await gw.close();
    await expect(rest).rejects.toThrow(/cut off|terminated/);
  });
});

it('has the whole change in one message, with `@defer` and `@stream` as without', async () => {
  await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
  await using socket = await openSocket(gw, { init: {} });
  socket.send({
    id: '1',
    type: 'subscribe',
    payload: {
      query: 'subscription { triggerChanges { kind ... @defer(label: "t") { trigger { triggerId } } } }',
    },
  });
  await polling(gw.sandbox);
  const { id } = addTrigger(gw.sandbox);
  expect((await socket.next()).payload).toEqual({
    data: { triggerChanges: { kind: 'CLOSED', trigger: { triggerId: String(id) } } },
  });
});

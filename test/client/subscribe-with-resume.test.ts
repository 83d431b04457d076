import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  GraphError,
  LiveTriggersDocument,
  type ResumeOptions,
  subscribeWithResume,
} from '../../src/client/index.js';
import { ManualClock } from '../../src/clock.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { addTrigger, polling, quick } from '../live/live-gateway.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const transports = ['ws', 'sse'] as const;
type Options = ResumeOptions<{ after?: string | null }>;

const graphOf = ({ url }: Pick<TestGateway, 'url'>) => `${url}/graphql`;

/** Follows the triggers until it is left; `done` rejects with what the iteration threw. */
function follow(options: Omit<Options, 'webSocketImpl' | 'signal'>, onChange = async (_id: string) => {}) {
  const shown: string[] = [];
  const leaving = new AbortController();
  const changes = subscribeWithResume(LiveTriggersDocument, {
    ...options,
    webSocketImpl: WebSocket,
    signal: leaving.signal,
  });
  const done = (async () => {
    for await (const { data } of changes) {
      const id = data.triggerChanges.trigger.stationCode ?? '';
      shown.push(id);
      await onChange(id);
    }
  })();
  done.catch(() => {});
  return { shown, done, leave: () => leaving.abort() };
}

function memoryStore(cursor: string | null = null) {
  const taken: string[] = [];
  return {
    taken,
    get: () => taken.at(-1) ?? cursor,
    set: (next: string) => void taken.push(next),
  };
}

describe.each(transports)('a subscription over %s', (transport) => {
  const showing = (shown: readonly string[], ids: readonly string[]) =>
    expect.poll(() => shown, { timeout: 30_000 }).toEqual(ids);

  it('has each change once through restarts of the gateway', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    const add = (station: string) => addTrigger(sandbox, { id: Number(station.slice(1)), station });
    let gateway = await startGateway({ behind: sandbox, env: quick });
    const { port } = new URL(gateway.url);
    const { shown, done, leave } = follow({ url: graphOf(gateway), transport });
    await polling(sandbox);
    add('T1');
    const expected = ['T1'];
    await showing(shown, expected);
    for (const round of [1, 2]) {
      await gateway.close();
      for (const station of [`T${round * 10}`, `T${round * 10 + 1}`]) {
        add(station);
        expected.push(station);
      }
      gateway = await startGateway({ behind: sandbox, env: { ...quick, PORT: port } });
      await showing(shown, expected);
    }
    add('T99');
    await showing(shown, [...expected, 'T99']);
    leave();
    await done;
    await gateway.close();
  });

  it('goes on from its store, with the change whose taking was broken off', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
    const store = memoryStore();
    const broken = follow({ url: graphOf(gw), transport, store }, async (id) => {
      if (id === 'T2') throw new Error('The page crashed');
    });
    await polling(gw.sandbox);
    for (const id of [1, 2]) addTrigger(gw.sandbox, { id, station: `T${id}` });
    await expect(broken.done).rejects.toThrow('The page crashed');
    expect(store.taken).toHaveLength(1);
    addTrigger(gw.sandbox, { id: 3, station: 'T3' });

    const again = follow({ url: graphOf(gw), transport, store });
    await showing(again.shown, ['T2', 'T3']);
    await expect.poll(() => store.taken.length).toBe(3);
    again.leave();
    await again.done;

    const behindTheFirst = follow({ url: graphOf(gw), transport, store, cursor: store.taken[0] ?? null });
    await showing(behindTheFirst.shown, ['T2', 'T3']);
    behindTheFirst.leave();
    await behindTheFirst.done;
  });

  it('loses and repeats nothing while its consumer is slower than the connection lasts', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    const first = await startGateway({ behind: sandbox, env: quick });
    let goOn = () => {};
    const taking = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { shown, done, leave } = follow({ url: graphOf(first), transport }, () => taking);
    await polling(sandbox);
    for (const id of [1, 2, 3]) addTrigger(sandbox, { id, station: `T${id}` });
    await showing(shown, ['T1']);
    await first.close();
    await using second = await startGateway({
      behind: sandbox,
      env: { ...quick, PORT: new URL(first.url).port },
    });
    addTrigger(sandbox, { id: 4, station: 'T4' });
    goOn();
    await showing(shown, ['T1', 'T2', 'T3', 'T4']);
    expect(second.url).toBe(first.url);
    leave();
    await done;
  });

  it('ends where its signal aborts or its loop is left, and the gateway has no subscriber then', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
    const { done, leave } = follow({ url: graphOf(gw), transport });
    const left = subscribeWithResume(LiveTriggersDocument, {
      url: graphOf(gw),
      transport,
      webSocketImpl: WebSocket,
    });
    const next = left.next();
    const subscribers = async () =>
      (await gw.query('{ gateway { feeds { subscriberCount } } }')).gateway.feeds[0].subscriberCount;
    await expect.poll(subscribers, { timeout: 20_000 }).toBe(2);
    leave();
    await left.return?.();
    await done;
    expect(await next).toEqual({ done: true, value: undefined });
    await expect.poll(subscribers, { timeout: 20_000 }).toBe(0);
    const aborted = subscribeWithResume(LiveTriggersDocument, {
      url: graphOf(gw),
      transport,
      signal: AbortSignal.abort(),
    });
    expect(await aborted.next()).toEqual({ done: true, value: undefined });
  });

  it('throws what would fail again, with its code', async () => {
    await using gw = await startGateway({ env: quick });
    const thrownBy = (options: Partial<Options>) =>
      follow({ url: graphOf(gw), transport, ...options }).done.catch((error: GraphError) => error);
    expect(await thrownBy({ cursor: 'not-a-cursor' })).toMatchObject({ code: 'CURSOR_INVALID' });
    await using closed = await startGateway({
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'a-token-of-this-test' },
    });
    expect(await thrownBy({ url: graphOf(closed) })).toMatchObject({ code: 'UNAUTHENTICATED' });
    const filter = parse(
      'subscription ($after: String) { triggerChanges(after: $after, filter: { minPga: -1, no: 1 }) { cursor } }',
    );
    const wrong = subscribeWithResume(filter, { url: graphOf(gw), transport, webSocketImpl: WebSocket });
    const error = await wrong.next().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GraphError);
    expect(error).toMatchObject({ code: 'BAD_USER_INPUT', isPassing: false });
  });

  it('says when it has a connection, and when that is lost', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false });
    const first = await startGateway({ behind: sandbox, env: quick });
    const told: boolean[] = [];
    const onConnection = (isConnected: boolean) => void told.push(isConnected);
    const url = graphOf(first);
    const one = follow({ url, transport, onConnection });
    const until = (states: readonly boolean[]) =>
      expect.poll(() => told, { timeout: 30_000 }).toEqual(states);
    await until([true]);
    // It finds the socket of the other open.
    const other = follow({ url, transport, onConnection });
    await until([true, true]);
    other.leave();
    await other.done;
    await until([true, true, false]);
    await first.close();
    // Each attempt that fails ends without a connection too.
    await expect.poll(() => told.slice(3, 5), { timeout: 30_000 }).toEqual([false, false]);
    await using _second = await startGateway({
      behind: sandbox,
      env: { ...quick, PORT: new URL(first.url).port },
    });
    await expect.poll(() => told.at(-1), { timeout: 40_000 }).toBe(true);
    one.leave();
    await one.done;
  });

  it('throws CURSOR_EXPIRED, and goes on from the list that is read then', async () => {
    await using sandbox = await startSandbox({ live: false, rateLimits: false, world: emptyWorld() });
    const clock = new ManualClock(Date.now() - 8 * 86_400_000);
    addTrigger(sandbox, { id: 1, start_time: new Date(clock.now()).toISOString() });
    const before = await startGateway({ behind: sandbox, clock });
    const list = '{ triggers { changesCursor } }';
    const { changesCursor } = (await before.query(list)).triggers;
    await before.close();
    addTrigger(sandbox, { id: 2 });
    await using gw = await startGateway({ behind: sandbox, env: quick });
    const store = memoryStore(changesCursor);
    const expired = follow({ url: graphOf(gw), transport, store });
    expect(await expired.done.catch((error: GraphError) => error)).toMatchObject({
      code: 'CURSOR_EXPIRED',
      isPassing: false,
    });
    const { triggers } = await gw.query(list);
    const again = follow({ url: graphOf(gw), transport, store, cursor: triggers.changesCursor });
    addTrigger(sandbox, { id: 3, station: 'T3' });
    await showing(again.shown, ['T3']);
    again.leave();
    await again.done;
  });

  it('waits as long as a passing refusal says, and goes on', async () => {
    await using gw = await startGateway({
      env: { ...quick, CLIENT_RATE_PER_MINUTE: '30' },
      sandbox: { rateLimits: false },
    });
    // The whole of the rate is spent, so that the first attempts are refused.
    for (;;) if ((await gw.queryWithErrors('{ __typename }')).status === 429) break;
    const { shown, done, leave } = follow({ url: graphOf(gw), transport });
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, { id: 1, station: 'T1' });
    await showing(shown, ['T1']);
    leave();
    await done;
  });
});

it('has one socket for all subscriptions of a page', async () => {
  await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
  const all = [1, 2, 3].map(() => follow({ url: graphOf(gw), transport: 'ws' }));
  await polling(gw.sandbox);
  addTrigger(gw.sandbox, { id: 1, station: 'T1' });
  for (const { shown } of all) await expect.poll(() => shown, { timeout: 20_000 }).toEqual(['T1']);
  expect(await (await gw.fetch('/metrics')).text()).toMatch(/^\w*websockets 1$/m);
  for (const { leave } of all) leave();
  await Promise.all(all.map(({ done }) => done));
});

describe('a document that cannot be resumed', () => {
  it.each([
    [
      'subscription { triggerChanges { cursor } }',
      'subscription ($after: String) { triggerChanges(after: $after)',
    ],
    ['subscription { triggerChanges(after: "x") { cursor } }', 'pass a variable as `after`'],
    [
      'subscription ($after: String) { triggerChanges(after: $after) { kind } }',
      'select `cursor` in triggerChanges',
    ],
    ['{ triggers { totalCount } }', 'has no subscription'],
  ])('%s is refused at once, naming what to add', (text, message) => {
    const subscribe = () => subscribeWithResume(parse(text), { url: 'http://127.0.0.1', transport: 'sse' });
    expect(subscribe).toThrow(message);
  });

  it('can have aliases, fragments and another name of the variable', async () => {
    await using gw = await startGateway({ env: quick, sandbox: { rateLimits: false } });
    const document = parse(`
      fragment Position on TriggerChange { as: cursor }
      subscription ($from: String, $kinds: [ChangeKind!]) {
        renamed: triggerChanges(after: $from, filter: { kinds: $kinds }) { ...Position trigger { stationCode } }
      }
    `);
    const store = memoryStore();
    const leaving = new AbortController();
    const { signal } = leaving;
    const changes = subscribeWithResume<
      { renamed: { as: string } },
      { from: string | null; kinds: string[] }
    >(document, {
      url: graphOf(gw),
      variables: { kinds: ['OPENED', 'CLOSED'] },
      transport: 'sse',
      store,
      signal,
    });
    const first = changes.next();
    await polling(gw.sandbox);
    addTrigger(gw.sandbox, { id: 1 });
    const { value } = await first;
    const second = changes.next();
    await expect.poll(() => store.taken).toEqual([value?.data.renamed.as]);
    leaving.abort();
    await second;
  });
});

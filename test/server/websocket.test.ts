import { getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type AnswerError, startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

let shared: TestGateway;
beforeAll(async () => {
  shared = await startGateway();
});
afterAll(() => shared.close());

const subscribe = (id: string, query: string, more: object = {}) => ({
  id,
  type: 'subscribe',
  payload: { query, ...more },
});

describe('graphql-transport-ws', () => {
  it('runs queries, and names their errors like HTTP does', async () => {
    await using socket = await openSocket(shared, { init: {} });
    socket.send(subscribe('1', '{ __typename }'));
    expect(await socket.next()).toEqual({
      id: '1',
      type: 'next',
      payload: { data: { __typename: 'Query' } },
    });
    expect(await socket.next()).toEqual({ id: '1', type: 'complete' });
    const cases = [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['', 'BAD_REQUEST'],
      [`{ ${'a: __typename '.repeat(40)} }`, 'QUERY_TOO_COMPLEX'],
      [`{ ${'__typename '.repeat(3000)} }`, 'QUERY_TOO_COMPLEX'],
    ] as const;
    for (const [query, code] of cases) {
      socket.send(subscribe('2', query));
      const { type, payload } = await socket.next();
      expect([query.slice(0, 20), type, payload[0].extensions]).toEqual([
        query.slice(0, 20),
        'error',
        { code },
      ]);
    }
    // The socket has outlived them all.
    socket.send(subscribe('3', '{ __typename }'));
    expect((await socket.next()).payload.data).toEqual({ __typename: 'Query' });
  });

  it.each([
    ['{', undefined],
    ['{ nothing }', undefined],
    ['', undefined],
    ['query A { __typename } query B { __typename }', undefined],
    ['query A { __typename } query B { __typename }', 'C'],
    ['query A { __typename } subscription B { triggerChanges { kind } }', undefined],
    ['query A { __typename }', 'B'],
    ['fragment F on Query { __typename }', undefined],
    ['mutation { nothing }', undefined],
    ['query ($n: Int!) { sensors(first: $n) { totalCount } }', undefined],
    [`{ ${'a: __typename '.repeat(40)} }`, undefined],
  ])('refuses %s (%s) with one code and message on every transport', async (query, operationName) => {
    const answers = await Promise.all(
      ['application/json', 'text/event-stream'].map((accept) =>
        shared.fetch('/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept },
          body: JSON.stringify({ query, operationName }),
        }),
      ),
    );
    const [json = '', events = ''] = await Promise.all(answers.map((answer) => answer.text()));
    await using socket = await openSocket(shared, { init: {} });
    socket.send(subscribe('1', query, { operationName }));
    const { payload } = await socket.next();
    const shown = ({ message, extensions }: AnswerError) => ({ message, code: extensions.code });
    const expected = JSON.parse(json).errors.map(shown);
    expect(expected[0].code).toBeTruthy();
    expect(JSON.parse(/^data: (.*)$/m.exec(events)?.[1] ?? '').errors.map(shown)).toEqual(expected);
    expect((payload.errors ?? payload).map(shown)).toEqual(expected);
  });

  it('writes a long answer in pieces, and others in between', async () => {
    const query = getIntrospectionQuery();
    await using socket = await openSocket(shared, { init: {} });
    socket.send(subscribe('long', query));
    socket.send(subscribe('short', '{ __typename }'));
    const messages = [];
    while (messages.filter(({ type }) => type === 'complete').length < 2) messages.push(await socket.next());
    expect(messages.map(({ id, type }) => `${type} ${id}`)).toEqual([
      'next short',
      'complete short',
      'next long',
      'complete long',
    ]);
    expect(messages[2]?.payload.data).toEqual(await shared.query(query));
  });

  it('serves the client of graphql-ws', async () => {
    const client = createClient({
      url: `${shared.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
    });
    const results = client.iterate({ query: '{ gateway { version } }' });
    expect((await results.next()).value.data.gateway.version).toMatch(/^\d/);
    expect((await results.next()).done).toBe(true);
    await client.dispose();
  });

  it('answers a ping', async () => {
    await using socket = await openSocket(shared, { init: {} });
    socket.send({ type: 'ping', payload: { n: 1 } });
    expect(await socket.next()).toEqual({ type: 'pong', payload: { n: 1 } });
  });

  it('has the same rules for persisted operations', async () => {
    await using gw = await startGateway({ env: { PERSISTED_OPERATIONS: 'only' } });
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', '{ __typename }'));
    expect((await socket.next()).payload[0].extensions).toEqual({ code: 'PERSISTED_QUERY_ONLY' });
    const sha256Hash = 'a'.repeat(64);
    socket.send(subscribe('2', '', { extensions: { persistedQuery: { version: 1, sha256Hash } } }));
    expect((await socket.next()).payload[0].extensions).toEqual({ code: 'PERSISTED_QUERY_NOT_FOUND' });
  });
});

describe('a socket that breaks the rules', () => {
  it('is told at once when it asks for the legacy protocol', async () => {
    await using socket = await openSocket(shared, { protocol: 'graphql-ws' });
    expect((await socket.closed).code).toBe(4406);
  });

  it('is closed when it never says who it is', async () => {
    await using socket = await openSocket(shared);
    expect((await socket.closed).code).toBe(4408);
  });

  it('is closed when it subscribes before that', async () => {
    await using socket = await openSocket(shared);
    socket.send(subscribe('1', '{ __typename }'));
    expect((await socket.closed).code).toBe(4401);
  });

  it('is closed when it says so twice', async () => {
    await using socket = await openSocket(shared, { init: {} });
    socket.send({ type: 'connection_init' });
    expect((await socket.closed).code).toBe(4429);
  });

  it('is closed when two of its operations have one id', async () => {
    await using gw = await startGateway();
    gw.sandbox.faults.add({ source: 'project', hang: true });
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', '{ project { name } }'));
    socket.send(subscribe('1', '{ project { name } }'));
    expect((await socket.closed).code).toBe(4409);
  });

  it.each([
    'no JSON',
    '[]',
    '{"type":"nothing"}',
    '{"id":1,"type":"subscribe"}',
    'null',
    '"x"',
    '{"id":"1","type":"subscribe","payload":null,"variables":""}',
    '{"id":"1","type":"subscribe","payload":{"variables":""}}',
    '{"id":"1","type":"subscribe","payload":{"query":"{ __typename }","variables":"x","extensions":""}}',
    '{"variables":""',
  ])('is closed when it sends %s', async (text) => {
    await using socket = await openSocket(shared, { init: {} });
    socket.send(text);
    expect((await socket.closed).code).toBe(4400);
  });

  it('is closed when it sends what only a server sends, which is no fault of the gateway', async () => {
    await using gw = await startGateway();
    for (const message of [
      { id: '1', type: 'next', payload: { data: {} } },
      { id: '1', type: 'error', payload: [{ message: 'x' }] },
      { type: 'connection_ack' },
    ]) {
      await using socket = await openSocket(gw, { init: {} });
      socket.send(message);
      expect((await socket.closed).code).toBe(4400);
    }
    expect(gw.logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is closed when a message is larger than MAX_BODY_BYTES', async () => {
    await using gw = await startGateway({ env: { MAX_BODY_BYTES: '1000' } });
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', `{ __typename } #${'x'.repeat(1000)}`));
    expect((await socket.closed).code).toBe(1009);
  });

  it('gets a 404 anywhere but at /graphql', async () => {
    const socket = new WebSocket(`${shared.url.replace('http', 'ws')}/graphql/x`, 'graphql-transport-ws');
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
      socket.on('error', () => {});
    });
    expect(status).toBe(404);
  });
});

describe('operations of a socket', () => {
  it('are at most 100 at a time', async () => {
    await using gw = await startGateway();
    gw.sandbox.faults.add({ source: 'project', hang: true, times: 1000 });
    await using socket = await openSocket(gw, { init: {} });
    for (let n = 0; n <= 100; n++) socket.send(subscribe(`${n}`, '{ project { name } }'));
    const refused = await socket.next();
    expect(refused).toMatchObject({ id: '100', type: 'error' });
    expect(refused.payload[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
  });

  it('end upstream too when the client no longer wants them', async () => {
    await using gw = await startGateway();
    gw.sandbox.faults.add({ source: 'project', hang: true, times: 1000 });
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', '{ project { name } }'));
    await vi.waitFor(() => expect(gw.sandbox.inFlight('project')).toBe(1));
    socket.send({ id: '1', type: 'complete' });
    await vi.waitFor(() => expect(gw.sandbox.inFlight('project')).toBe(0));
    expect(socket.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('end upstream too when the socket is gone', async () => {
    await using gw = await startGateway();
    gw.sandbox.faults.add({ source: 'project', hang: true, times: 1000 });
    const socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', '{ project { name } }'));
    await vi.waitFor(() => expect(gw.sandbox.inFlight('project')).toBe(1));
    socket.socket.terminate();
    await vi.waitFor(() => expect(gw.sandbox.inFlight('project')).toBe(0));
  });

  it('leave one line each in the log', async () => {
    await using gw = await startGateway();
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe('1', 'query Good { __typename }'));
    await socket.next();
    await socket.next();
    socket.send(subscribe('2', '{ nothing }'));
    await socket.next();
    const lines = gw.logLines.filter((line) => line.msg === 'Operation');
    expect(lines).toMatchObject([
      { kind: 'query', operation: 'Good', upstreamRequests: 0 },
      { kind: 'query', operation: null, errors: ['GRAPHQL_VALIDATION_FAILED'] },
    ]);
  });
});

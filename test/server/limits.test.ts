import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

describe('a document beyond the limits', () => {
  let gw: TestGateway;
  beforeAll(async () => {
    gw = await startGateway();
  });
  afterAll(() => gw.close());

  const manyAliases = Array.from(
    { length: 60 },
    (_, n) => `s${n}: sensor(by: { stationCode: "S${n}" }) { model }`,
  );
  const fragments = Array.from(
    { length: 40 },
    (_, n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`,
  );
  const refused: [string, string, RegExp][] = [
    ['60 aliases of a sensor', `{ ${manyAliases.join(' ')} }`, /60 aliases; the limit is 30/],
    [
      'lists in lists that would cost too much upstream',
      '{ triggers(first: 300) { nodes { sensor { healthReports(first: 1000) { nodes { uptimeS } } } } } }',
      /needs \d+ upstream requests; the limit is 200/,
    ],
    [
      'lists in lists that would be too large an answer',
      `{ triggers(first: 100) { nodes { sensor {
        healthReports(first: 5000) { nodes { timestamp uptimeS batteryVolts charging } } } } } }`,
      /answers \d+ values; the limit is 1100000/,
    ],
    [
      'too deep a nesting',
      `{ sensors { nodes ${'{ network { sensors { nodes '.repeat(8)} { id } ${'} } }'.repeat(8)} } }`,
      /fields deep; the limit is 15/,
    ],
    ['too many tokens', `{ ${'__typename '.repeat(2001)} }`, /more than 2000 tokens/],
    [
      'fragments that unfold without end',
      `{ ...F0 } ${fragments.join(' ')} fragment F40 on Query { __typename }`,
      /With its fragments unfolded the operation has over 2000 fields/,
    ],
    [
      'too many directives',
      `{ ${'... @include(if: true) { __typename } '.repeat(60)} }`,
      /directives; the limit is/,
    ],
  ];

  it.each(refused)('is refused before anything is asked upstream: %s', async (_, document, message) => {
    const { errors, data } = await gw.queryWithErrors(document);
    expect(data).toBeUndefined();
    expect(errors?.[0]?.message).toMatch(message);
    expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it.each(refused)('is refused over a socket as well: %s', async (_, document, message) => {
    await using socket = await openSocket(gw, { init: {} });
    socket.send({ id: '1', type: 'subscribe', payload: { query: document } });
    const answer = await socket.next();
    const [error] = answer.type === 'error' ? answer.payload : answer.payload.errors;
    expect(error.message).toMatch(message);
    expect(error.extensions).toEqual({ code: 'QUERY_TOO_COMPLEX' });
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it('may have fragments in a circle, which is refused by name', async () => {
    const circle = await gw.queryWithErrors(
      '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
    );
    expect(circle.errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('is not what an introspection of GraphiQL is', async () => {
    const deep = `{ __schema { types { fields { type { ${'ofType { '.repeat(16)} name ${'} '.repeat(16)} } } } } }`;
    expect((await gw.query(deep)).__schema.types.length).toBeGreaterThan(10);
  });
});

describe('CLIENT_RATE_PER_MINUTE', () => {
  const tokens = {
    AUTH_MODE: 'token',
    GATEWAY_TOKENS: 'token-of-client-one,token-of-client-two',
    CLIENT_RATE_PER_MINUTE: '3',
  };
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  it('says 429 and when to come back, to this client alone, on every route', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, env: tokens });
    for (let n = 0; n < 3; n++) {
      expect((await gw.queryWithErrors('{ __typename }', {}, as('token-of-client-one'))).status).toBe(200);
    }
    const over = await gw.queryWithErrors('{ __typename }', {}, as('token-of-client-one'));
    expect(over.status).toBe(429);
    expect(over.headers.get('retry-after')).toBe('20');
    expect(over.errors?.[0]?.extensions).toEqual({ code: 'CLIENT_RATE_LIMITED', retryAfterS: 20 });
    const waveform = await gw.fetch(
      '/waveforms/S1/HNZ.mseed?start=2026-01-01&end=2026-01-02',
      as('token-of-client-one'),
    );
    expect(waveform.status).toBe(429);
    await using socket = await openSocket(gw, { init: { authorization: 'Bearer token-of-client-one' } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
    expect((await socket.next()).payload[0].extensions.code).toBe('CLIENT_RATE_LIMITED');
    expect((await gw.queryWithErrors('{ __typename }', {}, as('token-of-client-two'))).status).toBe(200);
    await clock.advance(20_000);
    expect((await gw.queryWithErrors('{ __typename }', {}, as('token-of-client-one'))).status).toBe(200);
    expect((await gw.queryWithErrors('{ __typename }', {}, as('token-of-client-one'))).status).toBe(429);
  });

  it('is off unless set', async () => {
    await using gw = await startGateway();
    for (let n = 0; n < 100; n++) expect((await gw.queryWithErrors('{ __typename }')).status).toBe(200);
  });
});

describe('a client that sends a byte at a time', () => {
  it('is cut off', async () => {
    await using gw = await startGateway();
    const socket = connect(Number(new URL(gw.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write('POST /graphql HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const dripping = setInterval(() => socket.write('x'), 500);
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(dripping);
    expect(received).toMatch(/^HTTP\/1.1 408/);
  }, 60_000);
});

import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

// Of each kind; 10,000 of each were run once, with the heap before and after alike.
const runs = 500;

let gw: TestGateway;
beforeAll(async () => {
  gw = await startGateway({ sandbox: { rateLimits: false } });
});
afterAll(() => gw.close());

const document = 'query Q($n: Int = 1) { triggers(first: $n) { nodes { id sensor { stationCode } } } }';
const body = JSON.stringify({ query: document, variables: { n: 2 }, operationName: 'Q', extensions: {} });
const requests = [
  `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  `GET /graphql?query=${encodeURIComponent(document)}&variables=%7B%22n%22%3A1%7D HTTP/1.1\r\nHost: localhost\r\nAccept: application/graphql-response+json\r\n\r\n`,
  'GET /waveforms/S1/HNZ.mseed?start=2026-01-01T00:00:00Z&end=2026-01-01T00:00:01Z HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
];
const frames = [
  JSON.stringify({ type: 'connection_init', payload: { authorization: 'Bearer x' } }),
  JSON.stringify({ id: '1', type: 'subscribe', payload: { query: document, variables: { n: 1 } } }),
  JSON.stringify({
    id: '1',
    type: 'subscribe',
    payload: { query: 'subscription { triggerChanges { cursor } }' },
  }),
  JSON.stringify({ id: '1', type: 'complete' }),
  JSON.stringify({ type: 'ping', payload: {} }),
];

/** One of the texts, with pieces cut out, doubled, or put in. */
function damaged(texts: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(
      '',
      '"',
      '{',
      '}',
      '\r\n',
      '\0',
      '\\u0000',
      'null',
      '-1',
      '1e999',
      '%',
      '__proto__',
      '...',
    ),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  const change = fc.tuple(fc.nat(), fc.nat({ max: 12 }), piece);
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([text, changes]) =>
      changes.reduce((current, [at, length, put]) => {
        const from = at % (current.length + 1);
        return current.slice(0, from) + put + current.slice(from + length);
      }, text),
    );
}

/** What comes back at first; a request that lacks its end gets one after a moment. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(gw.url).port), '127.0.0.1');
    const impatience = setTimeout(() => socket.end(), 100);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(impatience);
      resolve(received);
    });
    socket.write(text);
  });
}

const faults = () => gw.logLines.filter(({ level }) => level === 'error');

it('survives damaged requests without a fault of its own', async () => {
  await fc.assert(
    fc.asyncProperty(damaged(requests), async (text) => {
      const answer = await exchange(text);
      // Nothing at all, or a status: and none of them says that the gateway broke.
      expect(answer).toMatch(/^$|^HTTP\/1\.1 [1-4]\d\d /);
    }),
    { numRuns: runs },
  );
  expect(await gw.query('{ __typename }')).toEqual({ __typename: 'Query' });
  expect(faults()).toEqual([]);
}, 300_000);

it('survives damaged frames without a fault of its own', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(damaged(frames), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      async (texts, init) => {
        await using socket = await openSocket(gw, init ? { init: {} } : {});
        for (const text of texts) socket.send(text);
        socket.socket.close();
        const { code } = await socket.closed;
        expect([1000, 1005, 4400, 4401, 4403, 4408, 4409, 4429]).toContain(code);
      },
    ),
    { numRuns: runs },
  );
  expect(await gw.query('{ __typename }')).toEqual({ __typename: 'Query' });
  expect(faults()).toEqual([]);
}, 300_000);

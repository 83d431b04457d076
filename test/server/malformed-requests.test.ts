import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { exchange } from '../support/raw-http.js';

const get = 'GET /graphql?query={__typename} HTTP/1.1\r\n';
const webSocket = `${get}Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;

describe('a request that Node or ws would refuse by itself', () => {
  it.each([
    ['no request line', 'nonsense\r\n\r\n', 400],
    ['HTTP/2 without a word before', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a header without a name', `${get}Host: localhost\r\n: x\r\n\r\n`, 400],
    ['two lengths', `${get}Host: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
    ['no Host', `${get}Connection: close\r\n\r\n`, 400],
    ['headers without end', `${get}Host: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['another expectation', `${get}Host: localhost\r\nExpect: the-unexpected\r\n\r\n`, 417],
    ['a WebSocket without a key', `${webSocket}Sec-WebSocket-Version: 13\r\n\r\n`, 400],
    [
      'a WebSocket of another version',
      `${webSocket}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 7\r\n\r\n`,
      400,
    ],
    ['a WebSocket elsewhere', webSocket.replace('/graphql', '/elsewhere').concat('\r\n'), 404],
    ['a WebSocket of another origin', `${webSocket}Origin: http://evil.example\r\n\r\n`, 403],
  ])('is refused with the headers of every response: %s', async (_, text, status) => {
    await using gw = await startGateway();
    const [head = '', body = ''] = (await exchange(gw, text)).split('\r\n\r\n');
    const [line = '', ...fields] = head.split('\r\n');
    expect(line).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
    const headers = Object.fromEntries(fields.map((field) => field.toLowerCase().split(': ')));
    expect(headers).toMatchObject({
      connection: 'close',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'deny',
    });
    expect(JSON.parse(body).errors).toMatchObject([{ extensions: { code: expect.any(String) } }]);
    expect(gw.logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('does not follow half a response', async () => {
    await using gw = await startGateway();
    const stream =
      'GET /graphql?query=subscription{triggerChanges{kind}} HTTP/1.1\r\nHost: localhost\r\n' +
      'Accept: text/event-stream\r\n\r\n';
    const socket = connect(Number(new URL(gw.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (data) => {
      if (received === '') socket.write('nonsense\r\n\r\n');
      received += data;
    });
    socket.on('error', () => {});
    socket.write(stream);
    await new Promise((closed) => socket.once('close', closed));
    expect(received.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200']);
  });
});

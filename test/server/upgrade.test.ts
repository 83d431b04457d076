import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { exchange } from '../support/raw-http.js';
import { openSocket } from '../support/raw-socket.js';

const h2c = ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'];
const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`;
const last = lines('GET /health HTTP/1.1', 'Host: localhost', 'Connection: close');

describe('a request that offers another protocol', () => {
  it('is answered in HTTP/1.1 on every route', async () => {
    await using gw = await startGateway();
    const get = (path: string, upgrade: string[]) =>
      exchange(
        gw,
        lines(
          `GET ${path} HTTP/1.1`,
          'Host: localhost',
          'Connection: Upgrade, HTTP2-Settings, close',
          'Accept: application/json',
          ...upgrade,
        ),
      );
    const statuses = [
      ['/health', 200],
      ['/ready', 200],
      ['/metrics', 200],
      ['/graphql?query=%7B__typename%7D', 200],
      ['/waveforms/x/HNZ.mseed', 400],
      ['/nothing', 404],
    ] as const;
    for (const [path, status] of statuses) {
      for (const upgrade of [h2c, ['Upgrade: TLS/1.0'], ['upgrade: foo/2, h2c']]) {
        expect(await get(path, upgrade), `${path} ${upgrade[0]}`).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      }
    }
  });

  it('has its body read, however it arrives, and its connection goes on', async () => {
    await using gw = await startGateway();
    const body = JSON.stringify({ query: '{ __typename }' });
    const head = lines(
      'POST /graphql HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade, HTTP2-Settings',
      ...h2c,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    );
    const ways = [[head + body + last], [head, body, last], [head, body.slice(0, 7), body.slice(7), last]];
    for (const way of ways) {
      const answers = await exchange(gw, ...way);
      expect(answers).toContain('{"data":{"__typename":"Query"}}');
      expect(answers).toContain('"status":"ok"');
      expect(answers).not.toMatch(/HTTP\/1.1 [345]/);
    }
  });

  it('is answered in its turn among pipelined requests', async () => {
    await using gw = await startGateway();
    const body = JSON.stringify({ query: '{ sensors(first: 1) { nodes { id } } }' });
    const request = (path: string, offered: string[]) =>
      lines(
        `GET ${path} HTTP/1.1`,
        'Host: localhost',
        ...(offered.length ? ['Connection: Upgrade'] : []),
        ...offered,
      );
    const post = (offered: string[]) =>
      lines(
        'POST /graphql HTTP/1.1',
        'Host: localhost',
        ...(offered.length ? ['Connection: Upgrade'] : []),
        ...offered,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ) + body;
    const plain: string[] = [];
    for (const [way, ...statuses] of [
      [[request('/health', h2c) + request('/nothing', h2c) + last], 200, 404, 200],
      [[request('/health', h2c) + request('/nothing', h2c), last], 200, 404, 200],
      [
        [request('/nothing', plain) + request('/health', h2c), request('/nothing', h2c) + last],
        404,
        200,
        404,
        200,
      ],
      [
        [post(h2c) + request('/nothing', plain) + post(h2c) + request('/nothing', h2c) + last],
        200,
        404,
        200,
        404,
        200,
      ],
    ] as const) {
      const answers = await exchange(gw, ...way);
      expect([...answers.matchAll(/HTTP\/1.1 (\d+) /g)].map(([, status]) => Number(status))).toEqual(
        statuses,
      );
    }
  });

  it('is answered behind large responses, and loses nothing of its body', async () => {
    await using gw = await startGateway();
    gw.sandbox.faults.add({ source: 'project', times: 9, latencyMs: 2_000 });
    const large =
      '{ __schema { types { name description fields { name description args { name description } } } } }';
    const post = (query: string, length: number, ...offered: string[]) => {
      const body = JSON.stringify({ query, variables: { unused: ' '.repeat(length) } });
      const type = ['Content-Type: application/json', `Content-Length: ${body.length}`];
      return lines('POST /graphql HTTP/1.1', 'Host: localhost', ...offered, ...type) + body;
    };
    const offer = ['Connection: Upgrade', ...h2c];
    const { hostname, port } = new URL(gw.url);
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    let received = '';
    socket.on('data', (text) => {
      received += text;
    });
    socket.write(post('{ project { name } }', 0, ...offer) + post(large, 0));
    // By then the response to the second request waits for the first.
    await gw.query(large);
    socket.write(
      post('{ __typename }', 0) + post(large, 200_000, ...offer) + post(large, 0, ...offer) + last,
    );
    await new Promise((ended) => socket.on('end', ended));
    expect([...received.matchAll(/HTTP\/1.1 (\d+) /g)].map(([, status]) => status)).toEqual(
      Array(6).fill('200'),
    );
  });

  it('that is a WebSocket is opened after the responses to the requests before it', async () => {
    await using gw = await startGateway();
    const answers = await exchange(
      gw,
      lines(
        `GET /graphql?query=${encodeURIComponent('{ sensors(first: 1) { nodes { id } } }')} HTTP/1.1`,
        'Host: x',
      ) +
        lines(
          'GET /graphql HTTP/1.1',
          'Host: x',
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Sec-WebSocket-Version: 13',
        ),
      '\x88\x82\x00\x00\x00\x00\x03\xe8',
    );
    expect(answers).toMatch(/^HTTP\/1.1 200 .*"nodes".*HTTP\/1.1 101 /s);
  });

  it('does nothing more where its connection has ended meanwhile', async () => {
    await using gw = await startGateway();
    const { hostname, port } = new URL(gw.url);
    const query = encodeURIComponent('{ sensors(first: 1) { nodes { id } } }');
    for (let times = 0; times < 5; times++) {
      const socket = connect(Number(port), hostname);
      await new Promise((written) =>
        socket.write(
          lines(`GET /graphql?query=${query} HTTP/1.1`, 'Host: x') +
            lines('GET /health HTTP/1.1', 'Host: x', 'Connection: Upgrade', ...h2c),
          written,
        ),
      );
      socket.resetAndDestroy();
    }
    expect((await gw.fetch('/health')).status).toBe(200);
  });

  it('is answered where WebSocket is only one of them and lacks its key', async () => {
    await using gw = await startGateway();
    const body = JSON.stringify({ query: '{ __typename }' });
    const offer = ['Host: localhost', 'Connection: Upgrade, close', 'Upgrade: h2c, websocket'];
    expect(await exchange(gw, lines('GET /health HTTP/1.1', ...offer))).toMatch(/^HTTP\/1.1 200 /);
    const post = lines(
      'POST /graphql HTTP/1.1',
      ...offer,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    );
    expect(await exchange(gw, post + body)).toContain('{"data":{"__typename":"Query"}}');
  });

  it('opens a WebSocket where that is one of them', async () => {
    await using gw = await startGateway();
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const asked = ['GET /graphql HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', key];
    const socket = await exchange(
      gw,
      lines(...asked, 'Sec-WebSocket-Version: 13', 'Upgrade: h2c, WebSocket'),
      // A close frame, masked with zeros.
      '\x88\x82\x00\x00\x00\x00\x03\xe8',
    );
    expect(socket).toMatch(/^HTTP\/1.1 101 /);
    expect(
      await exchange(
        gw,
        lines(...asked, 'Sec-WebSocket-Version: 13', 'Upgrade: websocket').replace('/graphql', '/health'),
      ),
    ).toMatch(/^HTTP\/1.1 404 /);
    await using raw = await openSocket(gw, { init: {} });
    expect(raw.socket.readyState).toBe(raw.socket.OPEN);
  });
});

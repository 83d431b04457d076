import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startGateway, type TestGateway } from '../support/gateway.js';

const json = { 'content-type': 'application/json' };
const body = JSON.stringify({ query: '{ __typename }' });

/** fetch sends no Origin, Host or Sec-Fetch headers of our choice. */
function raw(gw: TestGateway, path: string, headers: Record<string, string>, method = 'GET', text = '') {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const sent = request(`${gw.url}${path}`, { method, headers }, (response) => {
        let received = '';
        response.on('data', (chunk) => {
          received += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received }),
        );
      });
      sent.on('error', reject);
      sent.end(text);
    },
  );
}

function upgrade(gw: TestGateway, headers: Record<string, string>): Promise<number | 'open'> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${gw.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers,
    });
    socket.on('open', () => {
      socket.terminate();
      resolve('open');
    });
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => {});
  });
}

const evil = { origin: 'https://evil.example' };
const query = '/graphql?query={__typename}';

describe('a page of another origin', () => {
  it('is refused on every route, WebSocket upgrades included', async () => {
    await using gw = await startGateway();
    for (const path of [query, '/waveforms/x/HNZ.mseed', '/ready', '/health']) {
      expect([path, (await raw(gw, path, evil)).status]).toEqual([path, 403]);
    }
    expect((await raw(gw, '/graphql', { ...evil, ...json }, 'POST', body)).status).toBe(403);
    expect((await raw(gw, query, { ...evil, accept: 'text/event-stream' })).status).toBe(403);
    expect(await upgrade(gw, evil)).toBe(403);
    expect(await upgrade(gw, { origin: 'null' })).toBe(403);
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it('gets no CORS header, not even on a preflight', async () => {
    await using gw = await startGateway();
    const preflight = await raw(
      gw,
      '/graphql',
      { ...evil, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
      'OPTIONS',
    );
    expect(preflight.status).toBe(403);
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('cannot have the query run by an image, a script or a frame', async () => {
    await using gw = await startGateway();
    for (const dest of ['image', 'script', 'iframe', 'empty']) {
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': dest };
      expect([dest, (await raw(gw, query, headers)).status]).toEqual([dest, 403]);
    }
  });

  it('is known by its Referer where there is neither Origin nor Sec-Fetch-Site', async () => {
    await using gw = await startGateway({ env: { CORS_ORIGINS: 'https://map.example' } });
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await raw(gw, path, headers)).status;
    const referer = 'http://evil.example/page';
    for (const path of [query, '/waveforms/x/HNZ.mseed', '/ready', '/metrics', '/health']) {
      expect([path, await statusOf(path, { referer })]).toEqual([path, 403]);
    }
    for (const good of [`${gw.url}/page`, 'https://map.example/page', 'no address']) {
      expect([good, await statusOf(query, { referer: good })]).toEqual([good, 200]);
    }
    expect(await statusOf('/graphql', { referer, accept: 'text/html' })).toBe(200);
    expect(await statusOf(query, { referer, 'sec-fetch-site': 'same-origin' })).toBe(200);
  });

  it('may link to GraphiQL', async () => {
    await using gw = await startGateway();
    const answer = await raw(gw, '/graphql', {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      accept: 'text/html',
    });
    expect(answer.status).toBe(200);
  });

  it('may read where CORS_ORIGINS names it, without credentials', async () => {
    await using gw = await startGateway({ env: { CORS_ORIGINS: 'https://map.example' } });
    const origin = 'https://map.example';
    const answer = await raw(gw, '/graphql', { origin, ...json }, 'POST', body);
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers.vary).toContain('Origin');
    const preflight = await raw(
      gw,
      '/graphql',
      { origin, 'access-control-request-method': 'POST' },
      'OPTIONS',
    );
    expect(preflight.status).toBe(204);
    for (const header of [
      'x-catalogue-key',
      'cache-control',
      'pragma',
      'traceparent',
      'tracestate',
      'baggage',
      'newrelic',
      'uber-trace-id',
      'x-amzn-trace-id',
      'x-b3-traceid',
      'x-datadog-trace-id',
      'x-apollo-operation-type',
      'apollo-require-preflight',
      'apollographql-client-name',
      'apollographql-client-version',
      'if-none-match',
    ]) {
      expect(preflight.headers['access-control-allow-headers']).toContain(header);
    }
    expect(await upgrade(gw, { origin })).toBe('open');
    expect((await raw(gw, query, evil)).status).toBe(403);
    expect((await raw(gw, query, { origin: 'https://map.example.evil.example' })).status).toBe(403);
  });

  it('may read wherever it is from with CORS_ORIGINS=*', async () => {
    await using gw = await startGateway({ env: { CORS_ORIGINS: '*' } });
    const answer = await raw(gw, query, evil);
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, '*']);
    expect(await upgrade(gw, evil)).toBe('open');
  });
});

describe('a page of the same origin', () => {
  it('may read, also through a proxy that ends TLS', async () => {
    await using gw = await startGateway({ env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-the-page' } });
    const headers = { authorization: 'Bearer token-of-the-page', 'sec-fetch-site': 'same-origin' };
    for (const origin of [gw.url, 'https://seis.example']) {
      const host = new URL(origin).host;
      expect((await raw(gw, query, { ...headers, origin, host })).status).toBe(200);
    }
  });

  it('is not believed when its name was re-bound to this machine and access is open to all', async () => {
    await using gw = await startGateway();
    const rebound = { host: 'evil.example:4000', origin: 'http://evil.example:4000' };
    expect((await raw(gw, query, rebound)).status).toBe(403);
    expect((await raw(gw, query, { host: 'evil.example', 'sec-fetch-site': 'same-origin' })).status).toBe(
      403,
    );
    expect(await upgrade(gw, rebound)).toBe(403);
    expect((await raw(gw, query, { host: 'localhost:4000', origin: 'http://localhost:4000' })).status).toBe(
      200,
    );
  });

  it('is not believed either where its browser says nothing about it, as over plain http', async () => {
    await using gw = await startGateway({ env: { CORS_ORIGINS: 'https://map.example' } });
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await raw(gw, path, headers)).status;
    for (const host of ['evil.example', 'evil.example:4000', '127.0.0.1.evil.example', 'localhost.']) {
      for (const path of [
        query,
        '/graphql',
        '/waveforms/x/HNZ.mseed',
        '/ready',
        '/metrics',
        '/',
        '/nothing',
      ]) {
        expect([host, path, await statusOf(path, { host })]).toEqual([host, path, 403]);
      }
      expect(await statusOf(query, { host, accept: 'text/event-stream' })).toBe(403);
      expect(await statusOf('/graphql', { host, accept: 'text/html' })).toBe(403);
      expect((await raw(gw, '/graphql', { host, ...json }, 'POST', body)).status).toBe(403);
      expect(await upgrade(gw, { host })).toBe(403);
      // A probe of the process may use any name.
      expect(await statusOf('/health', { host })).toBe(200);
    }
    const unfounded = [
      '127.0.0.1',
      '192.168.1.5:4000',
      '[::1]:4000',
      'LOCALHOST',
      'a.localhost',
      'seisgraph:4000',
    ];
    for (const host of [...unfounded, 'map.example', 'map.example:443']) {
      expect([host, await statusOf(query, { host })]).toEqual([host, 200]);
      expect([host, await upgrade(gw, { host })]).toEqual([host, 'open']);
    }
    expect(gw.sandbox.requests.filter(({ path }) => path.includes('waveform'))).toEqual([]);
  });

  it('may have any name where a token is needed, or all origins may read', async () => {
    const host = 'gateway.internal:4000';
    await using withToken = await startGateway({
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-the-page' },
    });
    expect((await raw(withToken, query, { host, authorization: 'Bearer token-of-the-page' })).status).toBe(
      200,
    );
    await using open = await startGateway({ env: { CORS_ORIGINS: '*' } });
    expect((await raw(open, query, { host })).status).toBe(200);
  });
});

describe('every answer', () => {
  it('has security headers and an id', async () => {
    await using gw = await startGateway();
    for (const path of [query, '/health', '/nothing', '/waveforms/a/b']) {
      const { headers } = await raw(gw, path, {});
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
      expect(headers['x-powered-by']).toBeUndefined();
    }
    const { headers } = await raw(gw, query, {});
    const ids = gw.logLines.filter((line) => line.msg === 'Operation').map(({ id }) => id);
    expect(ids).toContain(headers['x-request-id']);
  });

  it('is nothing that a cookie can open', async () => {
    await using gw = await startGateway({ env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-the-page' } });
    const answer = await raw(gw, query, {
      cookie: 'authorization=Bearer token-of-the-page; token=token-of-the-page',
    });
    expect(answer.status).toBe(401);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('an Origin or a Host that is no name', () => {
  // UTF-8 where a header has bytes.
  const noName = Buffer.from('\u{2d72e}t').toString('latin1');

  it.each([
    ['Origin', 403, { origin: `http://${noName}` }],
    ['Host', 400, { host: noName }],
  ])('is refused as %s, however often it comes', async (_, status, headers) => {
    await using gw = await startGateway();
    // Enough for V8 to compile what looks at it anew.
    const count = 6_000;
    const lines = Object.entries({ host: 'localhost', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const socket = connect(Number(new URL(gw.url).port), '127.0.0.1');
    let text = '';
    const answered = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        text += chunk;
        if (text.split('HTTP/1.1 ').length > count) resolve();
      });
    });
    socket.write(`GET /health HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`.repeat(count), 'latin1');
    await answered;
    socket.destroy();
    expect(new Set(text.match(/(?<=HTTP\/1\.1 )\d+/g))).toEqual(new Set([String(status)]));
    if ('origin' in headers) expect(await upgrade(gw, headers)).toBe(403);
    expect(gw.logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

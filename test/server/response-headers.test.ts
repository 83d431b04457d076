import { request } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const json = { 'content-type': 'application/json', accept: 'application/json' };

describe('every response', () => {
  it('says if it may be stored, and what decides on it', async () => {
    const env = { ANSWER_CACHE: 'true', CORS_ORIGINS: 'https://map.example' };
    // On the machine's clock the sensors would no longer be fresh where this takes ten seconds.
    await using gw = await startGateway({ env, isAlone: true, clock: new ManualClock() });
    const sensors = encodeURIComponent('{ sensors(first: 1) { nodes { id } } }');
    const post = (body: string, headers = json) => ({ method: 'POST', headers, body });
    const never = /^no-store\b/;
    const stored = /^private, max-age=\d+$/;
    const byClient = ['Origin', 'Authorization', 'X-Catalogue-Key'];
    const byAll = [...byClient, 'Accept', 'Accept-Encoding'];
    const asJson = { headers: { accept: 'application/json', 'cache-control': 'max-stale' } };
    await gw.query('{ sensors(first: 1) { nodes { id } } }');
    const cases: [string, RequestInit, RegExp, string[]][] = [
      [`/graphql?query=${sensors}`, asJson, stored, byAll],
      ['/graphql?query=', asJson, never, byAll],
      ['/graphql?query=%7B', asJson, never, byAll],
      ['/graphql?query=%7Bnothing%7D', asJson, never, byAll],
      ['/graphql', { headers: { accept: 'text/html' } }, /^private, no-cache$/, byAll],
      ['/graphql', { headers: { accept: 'image/png' } }, never, byAll],
      ['/graphql', post('{ "query": "{ sensors(first: 1) { nodes { id } } }" }'), stored, byAll],
      ['/graphql', post('{ "query": "{ __typename }'), never, byAll],
      ['/graphql', post('x', { ...json, 'content-type': 'text/plain' }), never, byAll],
      [
        '/graphql',
        post('{ "query": "{ __typename }" }', { ...json, accept: 'text/event-stream' }),
        never,
        byAll,
      ],
      ['/graphql', { method: 'DELETE' }, never, byAll],
      ['/graphql', { method: 'OPTIONS', headers: { origin: 'https://map.example' } }, never, ['Origin']],
      ['/graphql', { headers: { origin: 'https://evil.example' } }, never, byAll],
      ['/waveforms/x/HNZ.mseed', {}, never, byClient],
      ['/waveforms/x', {}, never, byClient],
      ['/health', {}, never, ['Origin']],
      ['/ready', {}, never, ['Origin']],
      ['/metrics', {}, never, ['Origin']],
      ['/', { redirect: 'manual' }, never, ['Origin']],
      ['/', { method: 'POST' }, never, ['Origin']],
      ['/nothing', {}, never, ['Origin']],
    ];
    for (const [path, init, cacheControl, vary] of cases) {
      const response = await gw.fetch(path, init);
      await response.arrayBuffer();
      const name = `${init.method ?? 'GET'} ${path} ${JSON.stringify(init.headers ?? {})}`;
      expect(response.headers.get('cache-control'), name).toMatch(cacheControl);
      const named = (response.headers.get('vary') ?? '').split(',').map((header) => header.trim());
      expect(named, name).toEqual(expect.arrayContaining(vary));
    }
  });

  const live = 'subscription { sensorStatusChanges { status } }';
  const deferred = '{ __typename ... @defer { sensors(first: 1) { totalCount } } }';

  it.each([
    ['text/event-stream', live],
    ['multipart/mixed;subscriptionSpec="1.0"', live],
    ['text/event-stream', deferred],
    ['multipart/mixed;deferSpec=20220824', deferred],
  ])('in parts asks proxies to pass on each as it is: %s, %s', async (accept, query) => {
    await using gw = await startGateway();
    const controller = new AbortController();
    const response = await gw.fetch('/graphql', {
      method: 'POST',
      headers: { ...json, accept },
      body: JSON.stringify({ query }),
      signal: controller.signal,
    });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expect.stringMatching(/^(text\/event-stream$|multipart\/mixed;)/),
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(response.headers.get('content-encoding')).toBeNull();
    controller.abort();
  });
});

describe('the root', () => {
  it('leads to the graph, inside the path prefix of a proxy, and only for now', async () => {
    await using gw = await startGateway();
    const response = await gw.fetch('/', { redirect: 'manual' });
    expect(response.status).toBe(302);
    const location = response.headers.get('location') ?? '';
    expect(new URL(location, 'https://map.example/seismic/').pathname).toBe('/seismic/graphql');
  });
});

/** fetch would choose its own Content-Length and refuse some codings. */
function post({ url }: TestGateway, body: Buffer, headers: Record<string, string>) {
  return new Promise<{ status: number; accepted: unknown; text: string }>((resolve, reject) => {
    const sent = request(
      `${url}/graphql`,
      { method: 'POST', headers: { ...json, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, accepted: response.headers['accept-encoding'], text }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('a body with a content coding', () => {
  const query = Buffer.from(JSON.stringify({ query: '{ __typename }' }));
  const codings = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    GZIP: gzipSync,
    deflate: deflateSync,
    ' deflate ': deflateRawSync,
    br: brotliCompressSync,
    identity: (body: Buffer) => body,
    'gzip, identity': gzipSync,
    'Identity,br': brotliCompressSync,
    'identity, identity': (body: Buffer) => body,
  };

  it('is undone', async () => {
    await using gw = await startGateway();
    for (const [coding, encode] of Object.entries(codings)) {
      const answer = await post(gw, encode(query), { 'content-encoding': coding });
      expect([coding, answer.status, answer.text]).toEqual([coding, 200, '{"data":{"__typename":"Query"}}']);
    }
  });

  it('is refused where it would grow beyond MAX_BODY_BYTES', async () => {
    await using gw = await startGateway({ env: { MAX_BODY_BYTES: '10000' } });
    const bomb = Buffer.from(JSON.stringify({ query: `{ __typename } # ${'x'.repeat(20_000)}` }));
    for (const [coding, encode] of Object.entries(codings)) {
      const answer = await post(gw, encode(bomb), { 'content-encoding': coding });
      expect([coding, answer.status]).toEqual([coding, 413]);
      expect(answer.text).toContain('QUERY_TOO_COMPLEX');
    }
  });

  it('that it does not have is refused, without an echo of its bytes', async () => {
    await using gw = await startGateway();
    for (const coding of ['gzip', 'deflate', 'br']) {
      const answer = await post(gw, query, { 'content-encoding': coding });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Content-Encoding')]);
      expect(answer.text).not.toContain('typename');
    }
  });

  it('that is not known is refused with those that are', async () => {
    await using gw = await startGateway();
    for (const coding of ['zstd', 'gzip, br', 'compress', 'gzip, gzip']) {
      const answer = await post(gw, query, { 'content-encoding': coding });
      expect([coding, answer.status, answer.accepted]).toEqual([coding, 415, 'gzip, deflate, br, identity']);
    }
  });
});

describe('CORS_HEADERS', () => {
  const origin = 'https://map.example';

  it('names headers that pages may send besides', async () => {
    await using gw = await startGateway({ env: { CORS_ORIGINS: origin, CORS_HEADERS: 'X-Tenant, x-trace' } });
    const response = await gw.fetch('/graphql', { method: 'OPTIONS', headers: { origin } });
    const allowed = response.headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['x-tenant', 'x-trace', 'traceparent', 'content-type']));
  });

  it('stops the start where it is wrong or without effect', async () => {
    for (const env of [
      { CORS_ORIGINS: origin, CORS_HEADERS: 'x tenant' },
      { CORS_ORIGINS: origin, CORS_HEADERS: '*' },
      { CORS_HEADERS: 'x-tenant' },
    ]) {
      await expect(startGateway({ env })).rejects.toThrow(/^CORS_HEADERS /);
    }
  });
});

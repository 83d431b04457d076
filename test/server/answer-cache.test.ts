import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';
import { exchange } from '../support/raw-http.js';
import { openSocket } from '../support/raw-socket.js';

const sensors = '{ sensors(first: 3) { nodes { deviceId stationCode model } } }';

const start = ({ env, ...options }: TestGatewayOptions = {}) =>
  // Answers are cached per process.
  startGateway({
    isAlone: true,
    clock: new ManualClock(),
    ...options,
    env: { ANSWER_CACHE: 'true', ...env },
  });

async function metric(gw: TestGateway, series: string): Promise<number> {
  const text = await (await gw.fetch('/metrics')).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')[1] ?? Number.NaN,
  );
}

const cachedAnswers = (gw: TestGateway) => metric(gw, 'seisgraph_cached_answers_total');

/** How many of the operations that `run` sends are answered by a cached answer. */
async function hitsOf(gw: TestGateway, run: () => Promise<unknown>): Promise<number> {
  const before = await cachedAnswers(gw);
  await run();
  return (await cachedAnswers(gw)) - before;
}

/** Asks until the answer is cached: first upstream, then from what upstream answered. */
async function warm(gw: TestGateway, document: string, variables?: object, headers = {}): Promise<void> {
  for (let times = 0; times < 2; times++) await gw.query(document, variables, { headers });
}

const get = (gw: TestGateway, query: string, headers: Record<string, string> = {}) =>
  gw.fetch(`/graphql?query=${encodeURIComponent(query)}`, {
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      // Where a page sets a validator by hand, fetch adds `no-cache` unless there is a Cache-Control.
      'cache-control': 'max-stale',
      ...headers,
    },
  });

describe('a whole answer', () => {
  it('is cached once it was made without upstream, and given to who asks the same', async () => {
    await using gw = await start();
    const answers: unknown[] = [];
    const hits = await hitsOf(gw, async () => {
      for (let times = 0; times < 5; times++) answers.push(await gw.query(sensors));
    });
    expect(hits).toBe(3);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1);
  });

  it('leaves the line in the log and the counts that a computed one leaves, with an id of its own', async () => {
    await using gw = await start();
    const document = sensors.replace('{', 'query Again {');
    const ids = new Set<string | null>();
    for (let times = 0; times < 4; times++) {
      ids.add((await gw.queryWithErrors(document)).headers.get('x-request-id'));
    }
    expect(await cachedAnswers(gw)).toBe(2);
    const lines = gw.logLines.filter(({ operation }) => operation === 'Again');
    expect(new Set(lines.map(({ id }) => id))).toEqual(ids);
    expect(ids.size).toBe(4);
    const [, computed, cached, again] = lines.map(({ id: _, time: __, durationMs: ___, ...line }) => line);
    expect(computed?.cacheHits).toBeGreaterThan(0);
    expect(cached).toEqual(computed);
    expect(again).toEqual(computed);
    expect(await metric(gw, 'seisgraph_operations_total{operation="other",kind="query",outcome="ok"}')).toBe(
      4,
    );
    expect(await metric(gw, 'seisgraph_operation_duration_seconds_count{operation="other"}')).toBe(4);
  });

  it('comes in the order of the requests, however many arrive at once and whatever has to be computed', async () => {
    await using gw = await start();
    await warm(gw, sensors);
    const data = await gw.query(sensors);
    const count = 50;
    const computed = (number: number) => number % 7 === 3;
    const requests = Array.from({ length: count }, (_, number) => {
      const query = computed(number) ? `{ computed${number}: __typename }` : sensors;
      const body = JSON.stringify({ query });
      return (
        `POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n${number === count - 1 ? 'connection: close\r\n' : ''}\r\n${body}`
      );
    });
    const received = await Promise.all([1, 2, 3].map(() => exchange(gw, requests.join(''))));
    for (const text of received) {
      const answers = text.split(/HTTP\/1\.1 200 OK\r\n/).slice(1);
      expect(answers.map((answer) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))))).toEqual(
        requests.map((_, number) => ({
          data: computed(number) ? { [`computed${number}`]: 'Query' } : data,
        })),
      );
    }
  });

  it('is counted among the hits of the cache, read for read', async () => {
    await using gw = await start();
    const hits = () => metric(gw, 'seisgraph_cache_hits_total{interface="PROJECT"}');
    const document = '{ project { name } again: project { projectId } }';
    await gw.query(document);
    const counts: number[] = [];
    for (let times = 0; times < 3; times++) {
      const before = await hits();
      await gw.query(document);
      counts.push((await hits()) - before);
    }
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts).toEqual([counts[0], counts[0], counts[0]]);
  });

  it('is one of the operations that CLIENT_RATE_PER_MINUTE allows', async () => {
    await using gw = await start({ env: { CLIENT_RATE_PER_MINUTE: '4' } });
    const statuses: number[] = [];
    for (let times = 0; times < 5; times++) statuses.push((await gw.queryWithErrors(sensors)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    expect(await cachedAnswers(gw)).toBe(2);
  });

  it('is revalidated behind while it is stale, and gives way to what was read', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock });
    await warm(gw, sensors);
    await clock.advance(11_000);
    gw.sandbox.forget();
    expect(await hitsOf(gw, () => gw.query(sensors))).toBe(1);
    await vi.waitFor(() => expect(gw.sandbox.seen('project', '/v1/sensors')).toHaveLength(1));
    await vi.waitFor(async () => expect(await hitsOf(gw, () => gw.query(sensors))).toBe(0));
  });

  it('counts into CACHE_MAX_BYTES with all that it takes, and makes room for others', async () => {
    const mostBytes = 300_000;
    await using gw = await start({ env: { CACHE_MAX_BYTES: String(mostBytes) } });
    const document = '{ sensors(first: 50) { nodes { deviceId stationCode model } } }';
    const bytes = () => metric(gw, 'seisgraph_cache_bytes');
    await gw.query(document);
    const before = await bytes();
    const length = JSON.stringify({ data: await gw.query(document) }).length;
    const cached = await bytes();
    expect(cached - before).toBeGreaterThan(length);
    await gw.query(document, undefined, { headers: { 'accept-encoding': 'gzip' } });
    await vi.waitFor(async () => expect(await bytes()).toBeGreaterThan(cached + length / 10));
    for (let n = 1; n <= 60; n++) {
      await gw.query(document.replace('{', `query N${n} {`));
      expect(await bytes()).toBeLessThanOrEqual(mostBytes);
    }
    expect(await hitsOf(gw, () => gw.query(document.replace('{', 'query N60 {')))).toBe(1);
    expect(await hitsOf(gw, () => gw.query(document.replace('{', 'query N1 {')))).toBe(0);
  });

  it('does not exist with ANSWER_CACHE=false', async () => {
    await using gw = await start({ env: { ANSWER_CACHE: 'false' } });
    expect(await hitsOf(gw, () => warm(gw, sensors).then(() => warm(gw, sensors)))).toBe(0);
    const response = await get(gw, sensors);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('etag')).toBeNull();
  });
});

describe('cached answers are distinguished', () => {
  it('by operation, name and variables', async () => {
    await using gw = await start();
    const document =
      'query A($n: Int) { sensors(first: $n) { nodes { deviceId } } } query B { sensors(first: 1) { nodes { model } } }';
    const post = async (operationName: string, variables: object) => {
      const body = JSON.stringify({ query: document, operationName, variables });
      const headers = { 'content-type': 'application/json' };
      return (await (await gw.fetch('/graphql', { method: 'POST', headers, body })).json()).data.sensors
        .nodes;
    };
    for (let times = 0; times < 3; times++) {
      expect(await post('A', { n: 1 })).toHaveLength(1);
      expect(await post('A', { n: 2 })).toHaveLength(2);
      expect(Object.keys((await post('B', {}))[0])).toEqual(['model']);
    }
    expect(await cachedAnswers(gw)).toBeGreaterThanOrEqual(3);
  });

  it('by the keys that the client sends', async () => {
    await using gw = await start({ env: { AUTH_MODE: 'passthrough' } });
    const document = '{ sensors(first: 3) { nodes { deviceId location { latitude masked } } } }';
    const { projectKey, maskedProjectKey } = gw.sandbox;
    const ask = async (key: string) =>
      JSON.stringify(await gw.query(document, {}, { headers: { authorization: `Bearer ${key}` } }));
    const own = await ask(projectKey);
    const masked = await ask(maskedProjectKey);
    expect(masked).not.toBe(own);
    const hits = await hitsOf(gw, async () => {
      for (let times = 0; times < 3; times++) {
        expect(await ask(projectKey)).toBe(own);
        expect(await ask(maskedProjectKey)).toBe(masked);
      }
    });
    expect(hits).toBe(4);
  });

  it('by nothing that only says how they are sent', async () => {
    await using gw = await start();
    await warm(gw, sensors);
    const hits = await hitsOf(gw, async () => {
      for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream']) {
        const { headers } = await gw.fetch('/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept },
          body: JSON.stringify({ query: sensors }),
        });
        expect(headers.get('content-type')).toContain(accept);
      }
    });
    expect(hits).toBe(3);
  });
});

describe('a body that is the query of a GET', () => {
  it('is no JSON, whatever was cached for that query', async () => {
    await using gw = await start();
    for (let times = 0; times < 3; times++) expect((await get(gw, sensors)).status).toBe(200);
    const response = await gw.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
      body: `?query=${encodeURIComponent(sensors)}`,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ message: expect.stringContaining('JSON') }] });
  });
});

describe('never cached', () => {
  it.each([
    ['an answer with an error', '{ sensor(by: { deviceId: "x" }) { model } }'],
    ['a document that is refused', '{ nothing }'],
    ['what the gateway says of itself', '{ gateway { interfaces { requestCount } } }'],
  ])('%s', async (_, document) => {
    await using gw = await start();
    const hits = await hitsOf(gw, async () => {
      for (let times = 0; times < 3; times++) {
        const { headers } = await gw.queryWithErrors(document);
        expect(headers.get('cache-control')).toBe('no-store');
      }
    });
    expect(hits).toBe(0);
  });

  it('part of a list', async () => {
    await using gw = await start();
    gw.sandbox.faults.add({ source: 'catalogue', status: 403, times: 99 });
    const document = '{ sensors(first: 500) { unavailableSources { source } nodes { deviceId } } }';
    const hits = await hitsOf(gw, async () => {
      for (let times = 0; times < 3; times++) {
        const { sensors } = await gw.query(document);
        expect(sensors.unavailableSources).toEqual([{ source: 'CATALOGUE' }]);
      }
    });
    expect(hits).toBe(0);
  });

  it('nor looked for: what was asked with its cost', async () => {
    await using gw = await start();
    await warm(gw, sensors);
    const headers = { 'x-upstream-cost': '1' };
    const hits = await hitsOf(gw, async () => {
      for (let times = 0; times < 2; times++) {
        const { extensions } = await gw.queryWithErrors(sensors, undefined, { headers });
        expect(extensions.upstream.cacheHits).toBeGreaterThan(0);
      }
    });
    expect(hits).toBe(0);
    expect((await gw.queryWithErrors(sensors)).extensions).toBeUndefined();
  });

  it('what registers its text, or else nobody could name it again', async () => {
    await using gw = await start({ env: { PERSISTED_OPERATIONS: 'allow' } });
    const sha256Hash = createHash('sha256').update(sensors).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const post = async (parameters: object) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(parameters);
      return (await gw.fetch('/graphql', { method: 'POST', headers, body })).json();
    };
    const hits = await hitsOf(gw, async () => {
      for (let times = 0; times < 4; times++) await post({ query: sensors, extensions });
    });
    expect(hits).toBe(0);
    expect(await hitsOf(gw, () => post({ extensions }).then(() => post({ extensions })))).toBe(1);
  });
});

describe('a revoked key', () => {
  it('is refused, whatever was cached for it', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock, env: { AUTH_MODE: 'passthrough' } });
    const { projectKey } = gw.sandbox;
    const headers = { authorization: `Bearer ${projectKey}` };
    await warm(gw, sensors, undefined, headers);
    expect(await hitsOf(gw, () => gw.query(sensors, undefined, { headers }))).toBe(1);
    gw.sandbox.revoke(projectKey);
    await clock.advance(10_001);
    const { status, data } = await gw.queryWithErrors(sensors, undefined, { headers });
    expect([status, data?.sensors ?? null]).toEqual([401, null]);
  });
});

describe('over a WebSocket', () => {
  it('a query is answered with what was cached for a POST, and the other way round', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    const ask = async (query: string) => {
      socket.send({ id: '1', type: 'subscribe', payload: { query } });
      const next = await socket.next();
      expect(await socket.next()).toEqual({ id: '1', type: 'complete' });
      return next;
    };
    await warm(gw, sensors);
    const data = await gw.query(sensors);
    const hits = await hitsOf(gw, async () => {
      for (let times = 0; times < 2; times++) {
        expect(await ask(sensors)).toEqual({ id: '1', type: 'next', payload: { data } });
      }
    });
    expect(hits).toBe(2);
    const other = 'query Other { sensors(first: 2) { nodes { deviceId } } }';
    const asked = await ask(other);
    expect(await hitsOf(gw, async () => expect(await gw.query(other)).toEqual(asked.payload.data))).toBe(1);
    const line = gw.logLines.find(({ operation }) => operation === 'Other');
    expect(line).toMatchObject({ kind: 'query', upstreamRequests: 0 });
  });

  it('a client that asks for the cost gets it, of an operation that was run', async () => {
    await using gw = await start();
    await warm(gw, sensors);
    await using socket = await openSocket(gw, { init: {}, headers: { 'x-upstream-cost': '1' } });
    const hits = await hitsOf(gw, async () => {
      socket.send({ id: '1', type: 'subscribe', payload: { query: sensors } });
      expect((await socket.next()).payload.extensions.upstream.cacheHits).toBeGreaterThan(0);
    });
    expect(hits).toBe(0);
  });
});

describe('as server-sent events', () => {
  it('a cached answer is the same stream as a computed one', async () => {
    await using gw = await start();
    const stream = async () => {
      const response = await gw.fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: sensors }),
      });
      const { 'x-request-id': _, date: __, ...headers } = Object.fromEntries(response.headers);
      return { headers, text: await response.text() };
    };
    const first = await stream();
    expect(first.text).toMatch(/^:\n\nevent: next\ndata: \{"data":.*\}\n\nevent: complete\ndata:\n\n$/);
    expect(first.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
    });
    await stream();
    expect(await hitsOf(gw, async () => expect(await stream()).toEqual(first))).toBe(1);
  });
});

describe('the headers for HTTP caches', () => {
  it('is for how long the answer is fresh, and what it depends on', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock });
    const lifetime = async () => (await get(gw, sensors)).headers.get('cache-control');
    expect(await lifetime()).toBe('no-store');
    expect(await lifetime()).toBe('private, max-age=10');
    await clock.advance(3_500);
    expect(await lifetime()).toBe('private, max-age=6');
    await clock.advance(6_000);
    expect(await lifetime()).toBe('private, no-cache');
    const { headers } = await get(gw, sensors);
    expect(headers.get('vary')?.toLowerCase().split(', ').sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'origin',
      'x-catalogue-key',
      'x-upstream-cost',
    ]);
  });

  it('is at most five minutes, even of what can only change with the gateway', async () => {
    await using gw = await start();
    expect((await get(gw, '{ __typename }')).headers.get('cache-control')).toBe('private, max-age=300');
  });

  it('is that they need not be sent again what they have', async () => {
    await using gw = await start();
    await get(gw, sensors);
    const { headers } = await get(gw, sensors);
    const tag = headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]+"$/);
    for (const known of [tag, `W/${tag}`, `"another", ${tag}`, '*']) {
      // As browsers do for themselves; and as fetch does where a page sets the header: it adds `no-cache`.
      for (const [demand, lifetime] of [
        [{ 'cache-control': 'max-stale' }, 'private, max-age=10'],
        [{ 'cache-control': 'no-cache' }, 'private, no-cache'],
      ] as const) {
        const response = await get(gw, sensors, { 'if-none-match': known, ...demand });
        expect([known, response.status, await response.text()]).toEqual([known, 304, '']);
        expect(response.headers.get('etag')).toBe(tag);
        expect(response.headers.get('cache-control')).toBe(lifetime);
        expect(response.headers.get('vary')).toBe(headers.get('vary'));
        expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
        // What a demand has read anew is computed once before it is cached.
        await warm(gw, sensors);
        await get(gw, sensors);
      }
    }
    expect((await get(gw, sensors, { 'if-none-match': '"another"' })).status).toBe(200);
    const newer = { accept: 'application/graphql-response+json', 'if-none-match': tag };
    expect((await get(gw, sensors, newer)).status).toBe(200);
    const posted = await gw.queryWithErrors(sensors, undefined, { headers: { 'if-none-match': '*' } });
    expect([posted.status, posted.headers.get('etag')]).toEqual([200, null]);
  });

  it('is another tag when the answer is another one', async () => {
    const clock = new ManualClock();
    await using gw = await start({ clock });
    await get(gw, sensors);
    const tag = (await get(gw, sensors)).headers.get('etag') ?? '';
    for (const sensor of gw.sandbox.world.project.sensors) Object.assign(sensor, { sensor_type: 'replaced' });
    await clock.advance(11_000);
    await get(gw, sensors);
    await vi.waitFor(async () => {
      const response = await get(gw, sensors, { 'if-none-match': tag });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('replaced');
    });
  });
});

describe('encodings', () => {
  const long = '{ sensors(first: 50) { nodes { deviceId stationCode model firmwareVersion } } }';

  /** The cached answer has been encoded so. */
  const ready = (gw: TestGateway, codings: readonly string[]) =>
    vi.waitFor(async () => {
      for (const coding of codings) {
        const { headers } = await get(gw, long, { 'accept-encoding': coding });
        expect(headers.get('content-encoding')).toBe(coding);
      }
    });

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, br', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0, *', 'br'],
    ['deflate', null],
    ['identity;q=1, gzip;q=0.5', null],
    ['gzip;q=0', null],
    ['', null],
  ])('Accept-Encoding: %s is %s once it is ready, and never waited for', async (accepted, expected) => {
    await using gw = await start();
    const ask = () => get(gw, long, { 'accept-encoding': accepted });
    const text = await (await ask()).text();
    for (let times = 0; times < 2; times++) expect((await ask()).headers.get('content-encoding')).toBeNull();
    const plain = await get(gw, long);
    await ready(gw, ['gzip', 'br']);
    const response = await ask();
    expect(response.headers.get('content-encoding')).toBe(expected);
    // Decoded by the client.
    expect(await response.text()).toBe(text);
    const sentBytes = Number(response.headers.get('content-length'));
    if (expected === null) expect(response.headers.get('etag')).toBe(plain.headers.get('etag'));
    else {
      expect(sentBytes).toBeLessThan(text.length / 2);
      expect(response.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    }
    const tag = (await ask()).headers.get('etag') ?? '';
    const known = await get(gw, long, { 'accept-encoding': accepted, 'if-none-match': tag });
    expect([known.status, known.headers.get('etag')]).toEqual([304, tag]);
  });

  it('leave a short answer as it is', async () => {
    await using gw = await start();
    const ask = () => get(gw, '{ __typename }', { 'accept-encoding': 'gzip, br' });
    for (let times = 0; times < 3; times++) await ask();
    await warm(gw, long);
    await ready(gw, ['gzip', 'br']);
    expect((await ask()).headers.get('content-encoding')).toBeNull();
  });
});

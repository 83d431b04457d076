import type { OutgoingHttpHeaders } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { realClock } from '../../src/clock.js';
import { asId } from '../../src/upstream/decode/fields.js';
import { eventually, failureOf, projectAt, scopeOf, startTiny, startUpstream, unlimited } from './harness.js';

describe('the connections to upstream', () => {
  it('are few and reused, also after thousands of answers with bodies that nobody wants', async () => {
    const body = 'x'.repeat(20_000);
    await using tiny = await startTiny((request, response) => {
      response.statusCode = request.url?.includes('/v1/project') ? 200 : 404;
      response.end(response.statusCode === 200 ? '{"id":"p"}' : body);
    });
    await using client = projectAt(tiny.url, realClock);
    const total = 2_000;
    for (let done = 0; done < total; done += 50) {
      const ids = Array.from({ length: 50 }, (_, index) => `S${done + index}`);
      for (const read of await Promise.all(ids.map((id) => client.sensor(id, scopeOf()))))
        expect(read).toBeNull();
    }
    expect(tiny.requests).toHaveLength(total);
    expect(tiny.connections).toBeLessThanOrEqual(64);
    expect((await client.project(scopeOf())).value.id).toBe('p');
  });

  it('are never more than their bound, and those for whom there is none wait', async () => {
    const held: (() => void)[] = [];
    await using tiny = await startTiny((_, response) => {
      held.push(() => response.end('{"id":"p","device_id":"d"}'));
    });
    await using client = projectAt(tiny.url, realClock);
    const reads = Array.from({ length: 100 }, (_, index) => client.sensor(`S${index}`, scopeOf()));
    await eventually(() => expect(held.length).toBe(64));
    expect(await tiny.openConnections()).toBe(64);
    const release = setInterval(() => {
      for (const answer of held.splice(0)) answer();
    }, 5);
    expect((await Promise.all(reads)).every((read) => read !== null)).toBe(true);
    clearInterval(release);
    expect(tiny.connections).toBe(64);
  });

  it('are reused by one request after the other', async () => {
    await using tiny = await startTiny((_, response) => response.end('{"id":"p"}'));
    await using client = projectAt(tiny.url, realClock);
    for (let i = 0; i < 20; i++) await client.project(scopeOf({ maxAgeMs: 0 }));
    // undici may take a second one when the first is not quite free yet.
    expect(tiny.connections).toBeLessThanOrEqual(2);
  });
});

describe('a request to upstream', () => {
  it('carries the key in its header, below the prefix of the address, and asks for no coding', async () => {
    const seen: (string | undefined)[][] = [];
    await using tiny = await startTiny(({ url, headers, method }, response) => {
      seen.push([method, url, headers.authorization, headers['accept-encoding']]);
      response.end('{"data":[],"total":0}');
    });
    await using client = projectAt(`${tiny.url}/some/prefix/`, realClock, { key: 'svc_sk_abc' });
    await client.events(
      {
        limit: 7,
        offset: 3,
        order: 'asc',
        minMagnitude: -0.3,
        bbox: [-1e-7, 0, 179.5, 12],
        from: '2026-01-01T00:00:00+02:00',
      },
      scopeOf(),
    );
    expect(seen).toEqual([
      [
        'GET',
        '/some/prefix/v1/events?bbox=-0.0000001%2C0%2C179.5%2C12&from=2026-01-01T00%3A00%3A00%2B02%3A00&limit=7&min_magnitude=-0.3&offset=3&order=asc',
        'Bearer svc_sk_abc',
        'identity',
      ],
    ]);
  });

  it('keeps whatever is in an identifier inside its segment, and asks nothing where it can name nothing', async () => {
    await using tiny = await startTiny((_, response) => response.end('{"device_id":"A"}'));
    await using client = projectAt(tiny.url, realClock);
    for (const id of ['', '.', '..', '\ud800', 'x'.repeat(1_000)]) {
      expect(await client.sensor(id, scopeOf())).toBeNull();
    }
    expect(tiny.requests).toEqual([]);
    for (const id of ['a/b', '../project', 'a?b=c', 'a#b', 'a b', 'ü', '%2e%2e', '...']) {
      await client.sensor(id, scopeOf());
    }
    expect(tiny.requests).toEqual([
      '/v1/sensors/a%2Fb',
      '/v1/sensors/..%2Fproject',
      '/v1/sensors/a%3Fb%3Dc',
      '/v1/sensors/a%23b',
      '/v1/sensors/a%20b',
      '/v1/sensors/%C3%BC',
      '/v1/sensors/%252e%252e',
      '/v1/sensors/...',
    ]);
  });

  it('does not take the key to where a redirect points', async () => {
    await using elsewhere = await startTiny((_, response) => response.end('{"id":"stolen"}'));
    await using tiny = await startTiny((_, response) => {
      response.writeHead(302, { location: `${elsewhere.url}/v1/project` }).end();
    });
    await using client = projectAt(tiny.url, realClock);
    expect((await failureOf(client.project(scopeOf()))).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(elsewhere.requests).toEqual([]);
  });

  it('is over when its time is, also when the body never ends', async () => {
    await using tiny = await startTiny((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
    });
    await using client = projectAt(tiny.url, realClock, { timeoutMs: 60 });
    const error = await failureOf(client.project(scopeOf()));
    expect(error.code).toBe('UPSTREAM_TIMEOUT');
    await eventually(async () => expect(await tiny.openConnections()).toBe(0));
  });

  it('is over when nobody waits for it, also in the middle of the body', async () => {
    await using tiny = await startTiny((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
    });
    await using client = projectAt(tiny.url, realClock);
    const leaving = new AbortController();
    const read = client.project(scopeOf({ signal: leaving.signal }));
    await eventually(() => expect(tiny.requests).toHaveLength(1));
    leaving.abort(new Error('gone'));
    await expect(read).rejects.toThrow('gone');
    await eventually(async () => expect(await tiny.openConnections()).toBe(0));
  });
});

describe('a stream from upstream', () => {
  const window = { channel: 'HNZ', start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z' };

  it('is passed on as it comes, pays budget, and ends upstream when it is destroyed', async () => {
    await using upstream = await startUpstream();
    await using tiny = await startTiny((_, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.fdsn.mseed' });
      response.write(Buffer.alloc(512, 1));
    });
    const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
    const scope = scopeOf();
    const stream = await catalogue.waveformStream(asId('s1'), window, scope);
    for await (const chunk of stream ?? []) {
      expect(chunk).toHaveLength(512);
      break;
    }
    expect(scope.meter.requests).toBe(1);
    expect(catalogue.status().rateLimit.remaining).toBe(19);
    await eventually(async () => expect(await tiny.openConnections()).toBe(0));
  });

  it('that nobody reads does no harm when its caller leaves', async () => {
    await using upstream = await startUpstream();
    await using tiny = await startTiny((_, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.write(Buffer.alloc(512, 1));
    });
    const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
    const leaving = new AbortController();
    await catalogue.waveformStream(asId('s1'), window, scopeOf({ signal: leaving.signal }));
    leaving.abort(new Error('gone'));
    await eventually(async () => expect(await tiny.openConnections()).toBe(0));
  });

  it('ends with its caller', async () => {
    await using upstream = await startUpstream();
    await using tiny = await startTiny((_, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.write(Buffer.alloc(512, 1));
    });
    const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
    const leaving = new AbortController();
    const stream = await catalogue.waveformStream(asId('s1'), window, scopeOf({ signal: leaving.signal }));
    const ended = new Promise((resolve) => stream?.once('error', resolve));
    stream?.resume();
    leaving.abort(new Error('gone'));
    await ended;
    await eventually(async () => expect(await tiny.openConnections()).toBe(0));
  });

  it.each([
    ['text/html; charset=utf-8', '<html>'],
    ['application/json', '{"data":{}}'],
  ])('of %s is not data', async (type, body) => {
    await using upstream = await startUpstream();
    await using tiny = await startTiny((_, response) =>
      response.writeHead(200, { 'content-type': type }).end(body),
    );
    const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
    expect((await failureOf(catalogue.waveformStream(asId('s1'), window, scopeOf()))).code).toBe(
      'UPSTREAM_UNAVAILABLE',
    );
  });

  it('that is refused fails as any other read does', async () => {
    await using upstream = await startUpstream();
    const { catalogue, sandbox } = upstream;
    const body = JSON.stringify({
      error: { code: 'no', message: 'start is wrong' },
      meta: { request_id: 'r1' },
    });
    sandbox.faults.add({ source: 'catalogue', status: 400, body });
    expect(await failureOf(catalogue.waveformStream(asId('s1'), window, scopeOf()))).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'start',
      upstream: { requestId: 'r1' },
    });
  });
});

describe('a key', () => {
  it('with characters that no header can carry fails, and the error does not show them', async () => {
    await using tiny = await startTiny((_, response) => response.end('{}'));
    await using client = projectAt(tiny.url, realClock, { key: 'svc_sk_a\nb', rateLimit: unlimited });
    const error = await failureOf(client.project(scopeOf()));
    expect(JSON.stringify([error.code, error.message, String(error.cause)])).not.toContain('svc_sk_');
    expect(tiny.requests).toEqual([]);
  });
});

describe('a body that upstream compresses although no coding was asked for', () => {
  const window = { channel: 'HNZ', start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z' };
  const codings: readonly [string, (body: Buffer) => Buffer][] = [
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['identity', (body) => body],
  ];
  const answering = (status: number, headers: OutgoingHttpHeaders, body: Buffer) =>
    startTiny((_, response) => response.writeHead(status, headers).end(body));

  it.each(codings)('is read, JSON and miniSEED: %s', async (coding, encode) => {
    await using upstream = await startUpstream();
    const text = JSON.stringify({ id: 'p', name: 'x'.repeat(10_000) });
    await using json = await answering(200, { 'content-encoding': coding }, encode(Buffer.from(text)));
    await using project = projectAt(json.url, realClock);
    expect((await project.project(scopeOf())).value.id).toBe('p');

    const data = Buffer.from(Array.from({ length: 51_200 }, (_, n) => n % 251));
    const type = 'application/vnd.fdsn.mseed';
    await using mseed = await answering(
      200,
      { 'content-encoding': coding, 'content-type': type },
      encode(data),
    );
    const stream = await upstream
      .catalogueWith({ baseUrl: mseed.url })
      .waveformStream(asId('s1'), window, scopeOf());
    expect(Buffer.concat((await stream?.toArray()) ?? []).equals(data)).toBe(true);
  });

  it.each([
    ['damaged', 'gzip', Buffer.from('{"id":"p"}')],
    ['damaged', 'br', Buffer.from('{"id":"p"}')],
    ['damaged', 'deflate', Buffer.from('{"id":"p"}')],
    ['empty', 'gzip', Buffer.alloc(0)],
    ['empty', 'deflate', Buffer.alloc(0)],
    ['cut off', 'gzip', gzipSync('{"id":"p"}').subarray(0, 20)],
    ['cut off', 'br', brotliCompressSync('{"id":"p"}').subarray(0, 8)],
    ['unknown', 'zstd', Buffer.from('{"id":"p"}')],
    ['unknown', 'gzip, br', Buffer.from('{"id":"p"}')],
  ])('fails with its reason where it is %s: %s', async (_, coding, body) => {
    await using tiny = await answering(200, { 'content-encoding': coding }, body);
    await using project = projectAt(tiny.url, realClock);
    const error = await failureOf(project.project(scopeOf()));
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', upstream: { status: 200 } });
    expect(error.message).toContain('a content coding that is damaged, or not gzip, deflate or br');
  });

  it('is no larger than 32 MiB when it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    await using tiny = await answering(200, { 'content-encoding': 'gzip' }, bomb);
    await using project = projectAt(tiny.url, realClock);
    const error = await failureOf(project.project(scopeOf()));
    expect([error.code, error.message]).toEqual([
      'UPSTREAM_UNAVAILABLE',
      'The project interface answered /v1/project with more than 32 MiB',
    ]);
  });

  it('is the reason of a refusal, where it can be read', async () => {
    const said = gzipSync(JSON.stringify({ error: { code: 'forbidden', message: 'no' } }));
    for (const [body, code] of [
      [said, 'forbidden'],
      [said.subarray(0, 12), null],
    ] as const) {
      await using tiny = await answering(403, { 'content-encoding': 'gzip' }, body);
      await using project = projectAt(tiny.url, realClock);
      expect(await failureOf(project.project(scopeOf()))).toMatchObject({
        code: 'FORBIDDEN',
        upstream: { status: 403, code },
      });
    }
  });

  it('ends upstream when its reader goes', async () => {
    await using upstream = await startUpstream();
    await using tiny = await startTiny((_, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' });
      response.write(gzipSync(Buffer.alloc(512, 1)));
    });
    const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
    const stream = await catalogue.waveformStream(asId('s1'), window, scopeOf());
    for await (const chunk of stream ?? []) {
      expect(chunk).toHaveLength(512);
      break;
    }
    await eventually(async () => expect(await tiny.openConnections()).toBe(0));
  });
});

import { describe, expect, it, vi } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { exchange } from '../support/raw-http.js';

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`;
const query = '/graphql?query=%7B__typename%7D';
const typename = '{"data":{"__typename":"Query"}}';
const json = { 'content-type': 'application/json' };
const post = (body: string | Uint8Array<ArrayBuffer>, headers = {}) => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body,
});

describe('HEAD', () => {
  it('has the status and the headers of GET on every path, and no content', async () => {
    await using gw = await startGateway();
    const paths: [string, Record<string, string>][] = [
      [query, { accept: 'application/json' }],
      ['/graphql?query=%7Bnothing%7D', { accept: 'application/graphql-response+json' }],
      ['/graphql', { accept: 'text/html' }],
      ['/health', {}],
      ['/ready', {}],
      ['/waveforms/x/HNZ.mseed', {}],
      ['/nothing', {}],
    ];
    for (const [path, headers] of paths) {
      const got = await gw.fetch(path, { headers });
      await got.arrayBuffer();
      const asked = await gw.fetch(path, { method: 'HEAD', headers });
      const shown = ({ status, headers }: Response) => [
        path,
        status,
        ...['content-type', 'content-length', 'etag', 'vary', 'cache-control', 'allow'].map((name) =>
          headers.get(name),
        ),
      ];
      expect(shown(asked)).toEqual(shown(got));
      expect(await asked.text()).toBe('');
    }
  });

  it('is answered with 304 like GET', async () => {
    await using gw = await startGateway({ env: { ANSWER_CACHE: 'true' } });
    const etag = (await gw.fetch(query)).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    const again = await gw.fetch(query, { method: 'HEAD', headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });

  it('keeps no stream and no waveform running', async () => {
    await using gw = await startGateway({ sandbox: { rateLimits: false } });
    const sensor = gw.sandbox.world.catalogue.sensors[0]?.id ?? '';
    const window = 'start=2026-01-01T00:00:00Z&end=2026-01-01T00:01:00Z';
    const live = `/graphql?query=${encodeURIComponent('subscription { triggerChanges { kind } }')}`;
    for (const [path, type] of [
      [`/waveforms/${sensor}/HNZ.mseed?${window}`, 'application/vnd.fdsn.mseed'],
      [live, 'text/event-stream'],
    ] as const) {
      const response = await gw.fetch(path, { method: 'HEAD', headers: { accept: 'text/event-stream' } });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect(await response.text()).toBe('');
    }
    await vi.waitFor(
      async () => {
        const metrics = await (await gw.fetch('/metrics')).text();
        expect(metrics).toMatch(/feed_subscribers\{feed="triggerChanges"\} 0/);
      },
      { timeout: 15_000 },
    );
  });
});

describe('a body', () => {
  it('may begin with a byte order mark', async () => {
    await using gw = await startGateway();
    const body = new TextEncoder().encode(`\uFEFF${JSON.stringify({ query: '{ __typename }' })}`);
    const response = await gw.fetch('/graphql', post(body));
    expect([response.status, await response.text()]).toEqual([200, typename]);
  });

  it('that is not UTF-8 is refused, and not read as another operation', async () => {
    await using gw = await startGateway();
    const body = Uint8Array.from(
      Buffer.from('{"query":"{ __typename }","variables":{"name":"S\xe3o Paulo"}}', 'latin1'),
    );
    const response = await gw.fetch('/graphql', post(body));
    expect(response.status).toBe(400);
    expect((await response.json()).errors[0].message).toBe('The body is not UTF-8');
  });

  it('nor is a query string that is not percent-encoded UTF-8', async () => {
    await using gw = await startGateway();
    const query = encodeURIComponent('query ($s: String) { sensors(filter: { search: $s }) { totalCount } }');
    const get = (parameters: string) =>
      exchange(gw, `GET /graphql?${parameters} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await get(`query=${query}&variables=${encodeURIComponent('{"s":"é"}')}`)).toMatch(
      /^HTTP\/1.1 200 /,
    );
    gw.sandbox.forget();
    for (const wrong of ['%', '%zz', '%E9', '%C3', '%C0%80', '%ED%A0%80', '\xC3\xA9']) {
      const answer = await get(`query=${query}&variables=%7B%22s%22%3A%22${wrong}%22%7D`);
      expect(answer, wrong).toMatch(/^HTTP\/1.1 400 .*"BAD_REQUEST"/s);
      expect(await get(`query=${query}&operationName=${wrong}`), wrong).toMatch(/^HTTP\/1.1 400 /);
    }
    expect(gw.sandbox.requests).toEqual([]);
  });

  it('is accepted in UTF-8 alone, however that is written', async () => {
    await using gw = await startGateway();
    const body = JSON.stringify({ query: '{ __typename }' });
    for (const [type, status] of [
      ['application/json;charset=utf-8', 200],
      ['Application/JSON ; Charset="UTF-8"', 200],
      ['application/json; charset=utf8', 200],
      ['application/json; charset=us-ascii', 200],
      ['application/json; odata=verbose; charset=utf-8', 200],
      ['application/json; charset=iso-8859-1', 415],
      ['application/json; charset=utf-16', 415],
      ['application/json; odata=verbose; charset="windows-1252"', 415],
    ] as const) {
      const response = await gw.fetch('/graphql', post(body, { 'content-type': type }));
      expect([type, response.status]).toEqual([type, status]);
      await response.arrayBuffer();
    }
  });
});

describe('Accept', () => {
  const types = ['application/json', 'application/graphql-response+json'] as const;
  const [older, newer] = types;

  it.each([
    [`${older};q=0.5, ${newer}`, newer],
    [`${newer};q=0.5, ${older}`, older],
    [`${older};q=0, ${newer}`, newer],
    [`${newer}, ${older};q=0.9`, newer],
    [`text/event-stream;q=0.1, ${newer};q=0.2`, newer],
    [`${older}; charset="utf-8"`, older],
    [`${older};charset=UTF8`, older],
    [`text/event-stream;q=0.9, ${older};q=0`, 'text/event-stream'],
  ])('%s is answered as %s, faults too', async (accept, type) => {
    await using gw = await startGateway();
    for (const document of ['{__typename}', '{nothing}', '{']) {
      const response = await gw.fetch(`/graphql?query=${encodeURIComponent(document)}`, {
        headers: { accept },
      });
      expect(response.status).not.toBe(406);
      expect(response.headers.get('content-type')?.replace(/;.*/, '')).toBe(type);
      await response.arrayBuffer();
    }
  });
});

describe('a request target with scheme and host', () => {
  it('is served like its path', async () => {
    await using gw = await startGateway();
    const { host } = new URL(gw.url);
    for (const [target, status] of [
      [`http://${host}/health`, 200],
      [`HTTP://${host}${query}`, 200],
      [`http://${host}?query=%7B__typename%7D`, 302],
      [`http://${host}/nothing`, 404],
      ['http:///health', 400],
      ['ftp://localhost/health', 404],
    ] as const) {
      const answer = await exchange(
        gw,
        lines(`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close'),
      );
      expect([target, answer.slice(0, 12)]).toEqual([target, `HTTP/1.1 ${status}`]);
    }
  });

  it('is judged by its host, whatever the Host header says', async () => {
    await using gw = await startGateway();
    const { host } = new URL(gw.url);
    const foreign = `http://rebound.example${query}`;
    const refused = await exchange(
      gw,
      lines(`GET ${foreign} HTTP/1.1`, `Host: ${host}`, 'Connection: close'),
    );
    expect(refused).toMatch(/^HTTP\/1.1 403 /);
    const own = `http://${host}${query}`;
    const answered = await exchange(
      gw,
      lines(`GET ${own} HTTP/1.1`, 'Host: rebound.example', 'Connection: close'),
    );
    expect(answered).toContain(typename);
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const socket = (target: string) =>
      exchange(
        gw,
        lines(`GET ${target} HTTP/1.1`, `Host: ${host}`, key, ...upgrade),
        '\x88\x82\0\0\0\0\x03\xe8',
      );
    expect(await socket(`http://${host}/graphql`)).toMatch(/^HTTP\/1.1 101 /);
    expect(await socket('http://rebound.example/graphql')).toMatch(/^HTTP\/1.1 403 /);
  });
});

describe('a header that says one thing', () => {
  it.each([
    ['Host', 'localhost'],
    ['Authorization', 'Bearer another'],
    ['Content-Type', 'text/plain'],
  ])('is refused when it comes twice: %s', async (name, value) => {
    await using gw = await startGateway();
    const body = '{"query":"{ __typename }"}';
    const head = ['Host: localhost', 'Authorization: Bearer one', 'Content-Type: application/json'];
    const request = (...more: string[]) =>
      lines(
        'POST /graphql HTTP/1.1',
        ...head,
        ...more,
        'Connection: close',
        `Content-Length: ${body.length}`,
      ) + body;
    expect(await exchange(gw, request())).toContain(typename);
    expect(await exchange(gw, request(`${name}: ${value}`))).toMatch(/^HTTP\/1.1 400 /);
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const socket = lines(
      'GET /graphql HTTP/1.1',
      ...head,
      `${name}: ${value}`,
      'Connection: Upgrade',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...upgrade,
    );
    expect(await exchange(gw, socket)).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('an error', () => {
  const name = 'a'.repeat(100_000);
  const variables = Array.from({ length: 50 }, (_, index) => `$v${index}: Int`).join(' ');
  const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`v${index}`, 1]));

  it.each([
    ['a name', { query: `query ${name}(${variables}) { __typename }` }],
    ['a field', { query: `{ ${name} }` }],
    ['a literal', { query: `{ sensors(first: ${'9'.repeat(100_000)}) { totalCount } }` }],
    [
      'a value',
      {
        query: 'query ($f: SensorFilter) { sensors(filter: $f) { totalCount } }',
        variables: { f: { ...unknown, name } },
      },
    ],
  ])('does not repeat %s of the client again and again', async (_, body) => {
    await using gw = await startGateway();
    const response = await gw.fetch('/graphql', post(JSON.stringify(body)));
    const text = await response.text();
    expect(text.length).toBeLessThan(100_000);
    const [error] = JSON.parse(text).errors;
    expect(error.message).toContain('…');
    expect(error.extensions.code).toMatch(/BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED/);
  });
});

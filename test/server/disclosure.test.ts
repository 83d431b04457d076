import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ManualClock, realClock } from '../../src/clock.js';
import { listen } from '../../src/server/http/listen.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openParts, type Payload } from '../support/parts.js';
import { openSocket } from '../support/raw-socket.js';
import { SecretScan } from '../support/secret-scan.js';

/** Reads through both interfaces, over HTTP and a socket; everything that came back, as text. */
async function everythingSent(gw: TestGateway): Promise<string> {
  const document = '{ project { name } networks { name } triggers(first: 1) { nodes { id } } }';
  const answer = await gw.queryWithErrors(document, {}, { headers: { 'x-upstream-cost': '1' } });
  await using socket = await openSocket(gw, { init: {} });
  socket.send({ id: '1', type: 'subscribe', payload: { query: document } });
  const overSocket = await socket.next();
  const waveform = await gw.fetch('/waveforms/S1/HNZ.mseed?start=2026-01-01&end=2026-01-02');
  const texts = await Promise.all(
    ['/ready', '/metrics', '/health'].map(async (path) => (await gw.fetch(path)).text()),
  );
  return JSON.stringify([answer, [...answer.headers], overSocket, await waveform.text(), texts, gw.logText]);
}

describe('neither answers, logs, metrics nor readiness disclose a key or an address', () => {
  const echo = (key: string) => JSON.stringify({ error: { code: `Bearer ${key}`, message: `key ${key}` } });
  const troubles: [string, (gw: TestGateway) => void][] = [
    ['when nothing is wrong', () => {}],
    [
      'when upstream repeats the key in its error',
      ({ sandbox }) => {
        sandbox.faults.add({ source: 'project', status: 500, times: 99, body: echo(sandbox.projectKey) });
        sandbox.faults.add({ source: 'catalogue', status: 400, times: 99, body: echo(sandbox.catalogueKey) });
      },
    ],
    [
      'when upstream repeats the key in its headers',
      ({ sandbox }) => {
        const headers = { 'x-request-id': sandbox.projectKey, 'retry-after': sandbox.projectKey };
        sandbox.faults.add({ source: 'project', status: 503, times: 99, headers });
        sandbox.faults.add({ source: 'catalogue', status: 503, times: 99, headers });
      },
    ],
    [
      'when upstream refuses the key',
      ({ sandbox }) => {
        sandbox.revoke(sandbox.projectKey);
        sandbox.revoke(sandbox.catalogueKey);
      },
    ],
    [
      'when the connection breaks',
      ({ sandbox }) => {
        sandbox.faults.add({ source: 'project', drop: true, times: 99 });
        sandbox.faults.add({ source: 'catalogue', truncate: true, times: 99 });
      },
    ],
    [
      'when the answer is a page of a proxy',
      ({ sandbox }) => {
        sandbox.faults.add({ source: 'project', wrongBody: true, times: 99 });
        sandbox.faults.add({ source: 'catalogue', wrongBody: true, status: 502, times: 99 });
      },
    ],
  ];

  it.each(troubles)('%s', async (_, trouble) => {
    await using gw = await startGateway({ env: { LOG_LEVEL: 'debug' } });
    trouble(gw);
    const sent = await everythingSent(gw);
    const { projectKey, catalogueKey, projectUrl, catalogueUrl } = gw.sandbox;
    for (const secret of [projectKey, catalogueKey]) expect(sent).not.toContain(secret);
    for (const url of [projectUrl, catalogueUrl]) expect(sent).not.toContain(new URL(url).host);
    expect(sent).not.toMatch(/<html|node_modules|at .*\.(ts|js):\d/i);
  });

  it('when a host cannot be found or does not answer', async () => {
    const silent = createServer(() => {});
    const { url } = await listen(silent, 0, '127.0.0.1');
    await using gw = await startGateway({
      env: {
        PROJECT_API_URL: 'http://nowhere.invalid/secret-path',
        CATALOGUE_API_URL: `${url}/secret-path`,
        UPSTREAM_TIMEOUT_MS: '300',
      },
    });
    const sent = await everythingSent(gw);
    expect(sent).not.toMatch(/nowhere\.invalid|secret-path|svc_sk/);
    expect(sent).not.toContain(new URL(url).host);
    silent.closeAllConnections();
    silent.close();
  });
});

describe('upstream that repeats a secret which was not sent to it', () => {
  const clientsKey = 'c+lient/key=of&the?catalogue';
  const clientsToken = 'token+of/a=client&of?the-gateway';
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const forms: [string, (secret: string) => string][] = [
    ['as it is', (secret) => secret],
    ['in capitals', (secret) => secret.toUpperCase()],
    ['URL-encoded', encodeURIComponent],
    ['URL-encoded twice', (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ['in base64', base64],
    ['in base64, after one byte', (secret) => base64(`:${secret}`)],
    ['in base64, after two bytes', (secret) => base64(`k:${secret}:`)],
    ['in base64url', (secret) => Buffer.from(`Bearer ${secret}`).toString('base64url')],
    ['in base64, URL-encoded', (secret) => encodeURIComponent(base64(secret))],
  ];

  it.each(forms)('%s: no message, code, id or log line has it', async (_, write) => {
    await using token = await startGateway({
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS: clientsToken, LOG_LEVEL: 'debug' },
    });
    await using passthrough = await startGateway({ env: { AUTH_MODE: 'passthrough', LOG_LEVEL: 'debug' } });
    const authorization = `Bearer ${passthrough.sandbox.projectKey}`;
    const cases = [
      { gw: token, source: 'project', secret: token.sandbox.catalogueKey },
      { gw: token, source: 'project', secret: clientsToken },
      { gw: token, source: 'catalogue', secret: token.sandbox.projectKey },
      { gw: passthrough, source: 'project', secret: clientsKey },
      { gw: passthrough, source: 'catalogue', secret: passthrough.sandbox.projectKey },
    ] as const;
    for (const { gw, source, secret } of cases) {
      const headers =
        gw === token
          ? { authorization: `Bearer ${clientsToken}` }
          : { authorization, 'x-catalogue-key': clientsKey };
      const repeated = write(secret);
      const error = { code: repeated, message: `said <${repeated}> of it`, details: { of: repeated } };
      const body = JSON.stringify({ error, meta: { request_id: repeated } });
      gw.sandbox.faults.add({ source, status: 400, body, headers: { 'x-request-id': repeated } });
      const document = source === 'project' ? '{ triggers { nodes { id } } }' : '{ networks { name } }';
      const { errors } = await gw.queryWithErrors(document, {}, { headers });
      expect(errors?.[0]?.message).toMatch(/^said .*\[secret\].* of it$/);
      expect(errors?.[0]?.extensions.upstream).toMatchObject({ code: null, requestId: null });
      const sent = JSON.stringify(errors) + gw.logText;
      // The ends of a text in base64 depend on what is beside it.
      for (const text of [secret, repeated, repeated.slice(6, -6)]) expect(sent).not.toContain(text);
    }
  });

  it('in the id of a request that succeeded', async () => {
    await using gw = await startGateway();
    const { projectKey, catalogueKey } = gw.sandbox;
    for (const secret of [projectKey, catalogueKey]) {
      gw.sandbox.faults.add({ source: 'project', headers: { 'x-request-id': `id:${base64(secret)}` } });
      const { data } = await gw.queryWithErrors(
        '{ project { name } }',
        {},
        {
          headers: { 'x-upstream-cost': '1', 'cache-control': 'no-cache' },
        },
      );
      expect(data.project).not.toBeNull();
      expect(gw.logText).not.toContain(base64(secret).slice(0, -4));
    }
  });

  it('of another client', async () => {
    await using gw = await startGateway({ env: { AUTH_MODE: 'passthrough' } });
    const { projectKey } = gw.sandbox;
    const error = { code: 'invalid_parameter', message: 'not this parameter' };
    gw.sandbox.faults.add({ source: 'project', status: 400, body: JSON.stringify({ error }) });
    // A client cannot take the words out of the errors of others by what it chooses for a key.
    const other = { authorization: 'Bearer svc_sk_other', 'x-catalogue-key': 'parameter' };
    await using _socket = await openSocket(gw, { headers: other });
    const { errors } = await gw.queryWithErrors(
      '{ triggers { nodes { id } } }',
      {},
      {
        headers: { authorization: `Bearer ${projectKey}` },
      },
    );
    expect(errors?.[0]?.message).toBe('not this parameter');
    expect(errors?.[0]?.extensions.upstream.code).toBe('invalid_parameter');
  });
});

describe('a secret that a gateway discloses in any test of this suite', () => {
  it.each(['svc_sk_of-a-client', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.', 'some token', '127.0.0.1:4999'])(
    'fails that test: %s',
    (secret) => {
      const scan = new SecretScan(['some token', '127.0.0.1:4999']);
      const scanPiece = scan.pieces();
      for (const half of [secret.slice(0, 4), secret.slice(4)]) scanPiece(`${half}\r\n1f\r\n`);
      expect(() => scan.expectNone()).toThrow(/disclosed a secret/);
    },
  );

  it('is no hint at the form of keys, and no word as short as any other', () => {
    const scan = new SecretScan(['abc']);
    scan.add('abc: keys start with svc_sk_');
    scan.expectNone();
  });

  it('is found on the connection itself, whichever client connects', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${String(request.headers.authorization).slice(7, 13)}`);
      response.end(String(request.headers.authorization).slice(13));
    });
    const { port, url } = await listen(server, 0, '127.0.0.1');
    const scans = {
      sent: new SecretScan([]),
      answered: new SecretScan(['a token of ours']),
      asked: new SecretScan(['a token of ours']),
    };
    scans.sent.scanServer(port);
    scans.answered.scanResponsesOf(port);
    scans.asked.scanRequestsTo(port);
    const response = await fetch(url, { headers: { authorization: 'Bearer a token of ours' } });
    await response.text();
    for (const one of Object.values(scans)) expect(() => one.expectNone()).toThrow(/a token of ours/);
    server.close();
  });
});

describe('a fault of our own', () => {
  it('is masked, and logged under the id that is in the answer', async () => {
    const clock = new ManualClock();
    await using gw = await startGateway({ clock });
    // A clock that breaks is as good as any bug: whatever asks it the time throws.
    const now = clock.now.bind(clock);
    let isBroken = false;
    clock.now = () => {
      if (isBroken) throw new TypeError('secret detail of the inside');
      return now();
    };
    const asked = gw.queryWithErrors('{ project { name } }');
    isBroken = true;
    const { errors } = await asked.finally(() => {
      isBroken = false;
    });
    const [error] = errors ?? [];
    expect(error?.extensions.code).toBe('INTERNAL_SERVER_ERROR');
    expect(JSON.stringify(errors)).not.toContain('secret detail');
    const line = gw.logLines.find(({ id }) => id === error?.extensions.id);
    expect(JSON.stringify(line)).toContain('secret detail of the inside');
  });

  it.each(['multipart/mixed', 'text/event-stream', 'a WebSocket'])(
    'in a deferred part is masked too, over %s',
    async (transport) => {
      const clock = new ManualClock();
      await using gw = await startGateway({ clock, isAlone: true, sandbox: { clock: realClock } });
      await gw.query('{ sensors(first: 1) { nodes { stationCode } } }');
      const now = clock.now.bind(clock);
      let isBroken = false;
      clock.now = () => {
        if (!isBroken) return now();
        isBroken = false;
        throw new TypeError('secret detail of the inside');
      };
      gw.sandbox.faults.add({
        source: 'project',
        path: /soh/,
        rewrite(body) {
          isBroken = true;
          return body;
        },
      });
      const query =
        '{ sensors(first: 1) { nodes { stationCode ... @defer { latestHealthReport { timestamp } } } } }';
      const [first, ...rest] = await payloadsOver(transport, gw, query);
      expect(first).toEqual({
        data: { sensors: { nodes: [{ stationCode: expect.any(String) }] } },
        hasNext: true,
      });
      expect(rest).toEqual([
        {
          incremental: [
            {
              path: ['sensors', 'nodes', 0],
              data: { latestHealthReport: null },
              errors: [
                {
                  message: 'Unexpected fault: the log has it under this id',
                  path: ['sensors', 'nodes', 0, 'latestHealthReport'],
                  locations: expect.anything(),
                  extensions: { code: 'INTERNAL_SERVER_ERROR', id: expect.any(String) },
                },
              ],
            },
          ],
          hasNext: false,
        },
      ]);
      const line = gw.logLines.find(({ id }) => id === rest[0].incremental[0].errors[0].extensions.id);
      expect(JSON.stringify(line)).toContain('secret detail of the inside');
    },
  );
});

async function payloadsOver(transport: string, gw: TestGateway, query: string): Promise<Payload[]> {
  if (transport !== 'a WebSocket') return (await openParts(gw, query, { accept: transport })).rest();
  await using socket = await openSocket(gw, { init: {} });
  socket.send({ id: '1', type: 'subscribe', payload: { query } });
  const payloads: Payload[] = [];
  for (let message = await socket.next(); message.type === 'next'; message = await socket.next())
    payloads.push(message.payload);
  return payloads;
}

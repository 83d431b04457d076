import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { listen } from '../../src/server/http/listen.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';
import { Told } from '../support/told.js';

/** Reads through both interfaces, over HTTP and a socket; everything that came back, as text. */
async function everythingTold(gw: TestGateway): Promise<string> {
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

describe('neither answers, logs, metrics nor readiness tell a key or an address', () => {
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
    const told = await everythingTold(gw);
    const { projectKey, catalogueKey, projectUrl, catalogueUrl } = gw.sandbox;
    for (const secret of [projectKey, catalogueKey]) expect(told).not.toContain(secret);
    for (const url of [projectUrl, catalogueUrl]) expect(told).not.toContain(new URL(url).host);
    expect(told).not.toMatch(/<html|node_modules|at .*\.(ts|js):\d/i);
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
    const told = await everythingTold(gw);
    expect(told).not.toMatch(/nowhere\.invalid|secret-path|svc_sk/);
    expect(told).not.toContain(new URL(url).host);
    silent.closeAllConnections();
    silent.close();
  });
});

describe('a secret that a gateway tells in any test of this suite', () => {
  it.each(['svc_sk_of-a-client', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.', 'some token', '127.0.0.1:4999'])(
    'fails that test: %s',
    (secret) => {
      const told = new Told(['some token', '127.0.0.1:4999']);
      const hear = told.pieces();
      for (const half of [secret.slice(0, 4), secret.slice(4)]) hear(`${half}\r\n1f\r\n`);
      expect(() => told.expectNone()).toThrow(/told a secret/);
    },
  );

  it('is no hint at the form of keys, and no word as short as any other', () => {
    const told = new Told(['abc']);
    told.add('abc: keys start with svc_sk_');
    told.expectNone();
  });

  it('is heard on the connection itself, whoever asks there', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${String(request.headers.authorization).slice(7, 13)}`);
      response.end(String(request.headers.authorization).slice(13));
    });
    const { port, url } = await listen(server, 0, '127.0.0.1');
    const told = {
      sent: new Told([]),
      answered: new Told(['a token of ours']),
      asked: new Told(['a token of ours']),
    };
    told.sent.hearServer(port);
    told.answered.hearAnswersOf(port);
    told.asked.hearSentTo(port);
    const response = await fetch(url, { headers: { authorization: 'Bearer a token of ours' } });
    await response.text();
    for (const one of Object.values(told)) expect(() => one.expectNone()).toThrow(/a token of ours/);
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
});

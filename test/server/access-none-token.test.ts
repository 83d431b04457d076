import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { lastEventsOf, openEventStream } from '../support/event-stream.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

const query = '/graphql?query={__typename}';
const waveform = '/waveforms/S1/HNZ.mseed?start=2026-01-01T00:00:00Z&end=2026-01-01T00:00:10Z';

describe('AUTH_MODE=token', () => {
  let gw: TestGateway;
  beforeAll(async () => {
    gw = await startGateway({ env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'first-token,second-token' } });
  });
  afterAll(() => gw.close());

  it.each([
    ['nothing', undefined],
    ['a wrong token', 'Bearer first-tokem'],
    ['the start of a token', 'Bearer first'],
    ['more than a token', 'Bearer first-token,second-token'],
    ['another scheme', 'Basic first-token'],
    ['a token without a scheme', 'first-token'],
    ['an empty token', 'Bearer '],
    ['text that no header should have', 'Bearer a b c'],
  ])('refuses %s on every route, and asks upstream nothing', async (_, authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const answers = [
      await gw.fetch(query, { headers }),
      await gw.fetch(query, { headers: { ...headers, accept: 'text/event-stream' } }),
      await gw.fetch('/graphql', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"query":"{__typename}"}',
      }),
      await gw.fetch(waveform, { headers }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      const body = await answer.json();
      expect(body.errors[0].extensions).toEqual({ code: 'UNAUTHENTICATED' });
      expect(body.data).toBeUndefined();
    }
    await using byHeader = await openSocket(gw, { headers });
    byHeader.send({ type: 'connection_init' });
    expect((await byHeader.closed).code).toBe(4403);
    await using byPayload = await openSocket(gw);
    byPayload.send({ type: 'connection_init', payload: { authorization } });
    expect((await byPayload.closed).code).toBe(4403);
    expect(gw.sandbox.requests).toHaveLength(0);
  });

  it('lets every one of its tokens in, on every route', async () => {
    for (const token of ['first-token', 'second-token']) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await gw.fetch(query, { headers })).status).toBe(200);
      expect((await gw.fetch(query, { headers: { authorization: `bearer ${token}` } })).status).toBe(200);
      expect([401, 403]).not.toContain((await gw.fetch(waveform, { headers })).status);
      await using byHeader = await openSocket(gw, { headers, init: {} });
      await using byPayload = await openSocket(gw, { init: headers });
      for (const socket of [byHeader, byPayload]) {
        socket.send({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
        expect((await socket.next()).payload).toEqual({ data: { __typename: 'Query' } });
      }
    }
  });

  it('lets the page of GraphiQL, health and readiness be seen without', async () => {
    for (const path of ['/health', '/ready']) expect((await gw.fetch(path)).status).toBe(200);
    const page = await gw.fetch('/graphql', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    await page.arrayBuffer();
  });

  it('never writes a token', async () => {
    await gw.fetch(query, { headers: { authorization: 'Bearer first-token' } });
    await gw.fetch(query, { headers: { authorization: 'Bearer third-token-which-is-wrong' } });
    expect(gw.logText).not.toMatch(/first-token|second-token|third-token/);
  });
});

describe('GATEWAY_TOKENS_FILE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'seisgraph-tokens-'));
  const file = join(folder, 'tokens');
  afterAll(() => rmSync(folder, { recursive: true }));

  const statusWith = async (gw: TestGateway, token: string) =>
    (await gw.fetch(query, { headers: { authorization: `Bearer ${token}` } })).status;

  it('is read again without a restart, and the sockets and streams of a token that is gone end', async () => {
    writeFileSync(file, 'old\nkept\n');
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, env: { AUTH_MODE: 'token', GATEWAY_TOKENS_FILE: file } });
    await using old = await openSocket(gw, { init: { authorization: 'Bearer old' } });
    await using kept = await openSocket(gw, { init: { authorization: 'Bearer kept' } });
    const open = (token: string) =>
      openEventStream(gw, 'subscription { triggerChanges { kind } }', {
        headers: { authorization: `Bearer ${token}` },
      });
    const [oldStream, keptStream] = await Promise.all([open('old'), open('kept')]);
    writeFileSync(file, 'kept\nnew\n');
    await clock.advance(1_000);
    expect((await old.closed).code).toBe(4403);
    expect(kept.socket.readyState).toBe(kept.socket.OPEN);
    expect(lastEventsOf(await oldStream.ended)).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      complete: 'event: complete\ndata:',
    });
    expect(keptStream.text()).not.toContain('event:');
    expect([await statusWith(gw, 'old'), await statusWith(gw, 'kept'), await statusWith(gw, 'new')]).toEqual([
      401, 200, 200,
    ]);
  });

  it('locks nobody out while it is being replaced', async () => {
    writeFileSync(file, 'good');
    const clock = new ManualClock();
    // Each process reads the file, and says so when it cannot.
    await using gw = await startGateway({
      clock,
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS_FILE: file },
      isAlone: true,
    });
    writeFileSync(file, '');
    await clock.advance(1_000);
    expect(await statusWith(gw, 'good')).toBe(200);
    rmSync(file);
    await clock.advance(5_000);
    expect(await statusWith(gw, 'good')).toBe(200);
    expect(gw.logLines.filter(({ level }) => level === 'error')).toHaveLength(1);
    writeFileSync(file, 'other');
    await clock.advance(1_000);
    expect([await statusWith(gw, 'good'), await statusWith(gw, 'other')]).toEqual([401, 200]);
  });
});

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
    gw = await startGateway({
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS: 'first-token-of-two,second-token-of-two' },
    });
  });
  afterAll(() => gw.close());

  it.each([
    ['nothing', undefined],
    ['a wrong token', 'Bearer first-tokem'],
    ['the start of a token', 'Bearer first'],
    ['more than a token', 'Bearer first-token-of-two,second-token-of-two'],
    ['another scheme', 'Basic first-token-of-two'],
    ['a token without a scheme', 'first-token-of-two'],
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
    for (const token of ['first-token-of-two', 'second-token-of-two']) {
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
    await gw.fetch(query, { headers: { authorization: 'Bearer first-token-of-two' } });
    await gw.fetch(query, { headers: { authorization: 'Bearer third-token-of-none-which-is-wrong' } });
    expect(gw.logText).not.toMatch(/first-token-of-two|second-token-of-two|third-token-of-none/);
  });
});

describe('GATEWAY_TOKENS_FILE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'seisgraph-tokens-'));
  const file = join(folder, 'tokens');
  afterAll(() => rmSync(folder, { recursive: true }));

  const statusWith = async (gw: TestGateway, token: string) =>
    (await gw.fetch(query, { headers: { authorization: `Bearer ${token}` } })).status;

  it('is read again without a restart, and the sockets and streams of a token that is gone end', async () => {
    writeFileSync(file, 'token-of-the-older\ntoken-that-is-kept\n');
    const clock = new ManualClock();
    await using gw = await startGateway({ clock, env: { AUTH_MODE: 'token', GATEWAY_TOKENS_FILE: file } });
    await using old = await openSocket(gw, { init: { authorization: 'Bearer token-of-the-older' } });
    await using kept = await openSocket(gw, { init: { authorization: 'Bearer token-that-is-kept' } });
    const open = (token: string) =>
      openEventStream(gw, 'subscription { triggerChanges { kind } }', {
        headers: { authorization: `Bearer ${token}` },
      });
    const [oldStream, keptStream] = await Promise.all([
      open('token-of-the-older'),
      open('token-that-is-kept'),
    ]);
    writeFileSync(file, 'token-that-is-kept\ntoken-of-the-newer\n');
    await clock.advance(1_000);
    expect((await old.closed).code).toBe(4403);
    expect(kept.socket.readyState).toBe(kept.socket.OPEN);
    expect(lastEventsOf(await oldStream.ended)).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      complete: 'event: complete\ndata:',
    });
    expect(keptStream.text()).not.toContain('event:');
    expect([
      await statusWith(gw, 'token-of-the-older'),
      await statusWith(gw, 'token-that-is-kept'),
      await statusWith(gw, 'token-of-the-newer'),
    ]).toEqual([401, 200, 200]);
  });

  it('locks nobody out while it is being replaced', async () => {
    writeFileSync(file, 'token-of-the-good');
    const clock = new ManualClock();
    // Each process reads the file, and says so when it cannot.
    await using gw = await startGateway({
      clock,
      env: { AUTH_MODE: 'token', GATEWAY_TOKENS_FILE: file },
      isAlone: true,
    });
    writeFileSync(file, '');
    await clock.advance(1_000);
    expect(await statusWith(gw, 'token-of-the-good')).toBe(200);
    rmSync(file);
    await clock.advance(5_000);
    expect(await statusWith(gw, 'token-of-the-good')).toBe(200);
    expect(gw.logLines.filter(({ level }) => level === 'error')).toHaveLength(1);
    writeFileSync(file, 'token-of-the-other');
    await clock.advance(1_000);
    expect([await statusWith(gw, 'token-of-the-good'), await statusWith(gw, 'token-of-the-other')]).toEqual([
      401, 200,
    ]);
  });
});

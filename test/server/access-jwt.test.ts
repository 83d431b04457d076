import { createServer, type Server } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { listen } from '../../src/server/http/listen.js';
import { lastEventsOf, openEventStream } from '../support/event-stream.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

/** An issuer of tokens with a JWKS of its own. */
class Issuer {
  readonly published: object[] = [];
  reads = 0;
  isDown = false;
  url = '';
  readonly #server: Server = createServer((_, response) => {
    this.reads++;
    response.writeHead(this.isDown ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ keys: this.published }));
  });

  async start(): Promise<void> {
    this.url = (await listen(this.#server, 0, '127.0.0.1')).url;
  }

  async newKeys(kid: string, alg = 'RS256'): Promise<Keys> {
    const keys = await generateKeyPair(alg);
    this.published.push({ ...(await exportJWK(keys.publicKey)), kid, alg, use: 'sig' });
    return keys;
  }

  close(): void {
    this.#server.close();
  }
}

const issuer = new Issuer();
let first: Keys;
beforeAll(async () => {
  await issuer.start();
  first = await issuer.newKeys('first');
});
afterAll(() => issuer.close());

const env = () => ({
  AUTH_MODE: 'jwt',
  JWT_JWKS_URL: issuer.url,
  JWT_ISSUER: 'https://id.example',
  JWT_AUDIENCE: 'seisgraph',
});

interface Claims {
  readonly kid?: string;
  readonly alg?: string;
  readonly iss?: string;
  readonly aud?: string;
  readonly exp?: number | null;
  readonly nbf?: number;
}

function sign(key: Keys['privateKey'] | Uint8Array, claims: Claims = {}): Promise<string> {
  const { kid = 'first', alg = 'RS256', iss = 'https://id.example', aud = 'seisgraph' } = claims;
  const token = new SignJWT({ sub: 'someone' })
    .setProtectedHeader({ alg, kid })
    .setIssuer(iss)
    .setAudience(aud);
  if (claims.nbf !== undefined) token.setNotBefore(claims.nbf);
  const nowS = Math.floor(Date.now() / 1000);
  if (claims.exp !== null) token.setExpirationTime(claims.exp ?? nowS + 600);
  return token.sign(key);
}

async function statusWith(gw: TestGateway, token: string): Promise<number> {
  const response = await gw.fetch('/graphql?query={__typename}', {
    headers: { authorization: `Bearer ${token}` },
  });
  return response.status;
}

describe('AUTH_MODE=jwt', () => {
  it('takes a token of the issuer for this audience, over HTTP and over sockets', async () => {
    await using gw = await startGateway({ env: env() });
    const token = await sign(first.privateKey);
    expect(await statusWith(gw, token)).toBe(200);
    await using socket = await openSocket(gw, { init: { authorization: `Bearer ${token}` } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
    expect((await socket.next()).payload.data).toEqual({ __typename: 'Query' });
    expect(gw.logLines.find(({ msg }) => msg === 'Operation')?.client).toBe('subject someone');
    expect(gw.logText).not.toContain(token);
  });

  it('refuses every token that is not', async () => {
    await using gw = await startGateway({ env: env() });
    const nowS = Math.floor(Date.now() / 1000);
    const stranger = await generateKeyPair('RS256');
    const publicText = new TextEncoder().encode(JSON.stringify(issuer.published[0]));
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa(
      JSON.stringify({ iss: 'https://id.example', aud: 'seisgraph', exp: nowS + 600 }),
    )}.`.replaceAll('=', '');
    const good = await sign(first.privateKey);
    const refused: Record<string, string> = {
      'of another issuer': await sign(first.privateKey, { iss: 'https://evil.example' }),
      'for another audience': await sign(first.privateKey, { aud: 'elsewhere' }),
      expired: await sign(first.privateKey, { exp: nowS - 60 }),
      'without an end': await sign(first.privateKey, { exp: null }),
      'not valid yet': await sign(first.privateKey, { nbf: nowS + 600 }),
      "with a stranger's signature": await sign(stranger.privateKey),
      'signed with the public key as a secret': await sign(publicText, { alg: 'HS256' }),
      unsigned,
      'with changed claims': good.replace(/\.[^.]+\./, `.${btoa('{"sub":"root"}').replaceAll('=', '')}.`),
      'that is none': 'a.b.c',
    };
    for (const [name, token] of Object.entries(refused)) {
      expect([name, await statusWith(gw, token)]).toEqual([name, 401]);
      await using socket = await openSocket(gw);
      socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
      expect([name, (await socket.closed).code]).toEqual([name, 4403]);
    }
    expect(await statusWith(gw, good)).toBe(200);
  });

  it('forgives the clocks a few seconds', async () => {
    await using gw = await startGateway({ env: env() });
    const nowS = Math.floor(Date.now() / 1000);
    expect(await statusWith(gw, await sign(first.privateKey, { exp: nowS - 2 }))).toBe(200);
  });

  it('asks for the keys once, and again when a token names a new one', async () => {
    // Each process has keys of its own.
    const clock = new ManualClock(Date.now());
    await using gw = await startGateway({ clock, env: env(), isAlone: true });
    const readsBefore = issuer.reads;
    for (let n = 0; n < 5; n++) expect(await statusWith(gw, await sign(first.privateKey))).toBe(200);
    expect(issuer.reads - readsBefore).toBe(1);
    const rotated = await issuer.newKeys('second', 'ES256');
    const token = await sign(rotated.privateKey, { kid: 'second', alg: 'ES256' });
    // Unknown keys are asked for no more than twice a minute, whatever tokens are thrown at the gateway.
    for (let n = 0; n < 5; n++) expect(await statusWith(gw, token)).toBe(401);
    expect(issuer.reads - readsBefore).toBe(1);
    clock.stepWall(-3_600_000);
    await clock.advance(31_000);
    expect(await statusWith(gw, await sign(rotated.privateKey, { kid: 'second', alg: 'ES256' }))).toBe(200);
    expect(issuer.reads - readsBefore).toBe(2);
  });

  it('lets nobody in while the issuer is unavailable, and recovers', async () => {
    await using gw = await startGateway({ env: env() });
    issuer.isDown = true;
    const token = await sign(first.privateKey);
    expect(await statusWith(gw, token)).toBe(401);
    expect(gw.logLines.filter(({ level }) => level === 'error')).toHaveLength(1);
    issuer.isDown = false;
    await vi.waitFor(async () => expect(await statusWith(gw, token)).toBe(200), { timeout: 15_000 });
  });

  it('asks an issuer that is away once a second, whoever knocks', async () => {
    const clock = new ManualClock(Date.now());
    await using gw = await startGateway({ clock, env: env(), isAlone: true });
    issuer.isDown = true;
    const readsBefore = issuer.reads;
    const token = await sign(first.privateKey);
    for (let n = 0; n < 5; n++) expect(await statusWith(gw, token)).toBe(401);
    expect(issuer.reads - readsBefore).toBe(1);
    issuer.isDown = false;
    await clock.advance(1_000);
    expect(await statusWith(gw, token)).toBe(200);
  });

  it('goes on with the keys that it has while the issuer is away, for an hour', async () => {
    const clock = new ManualClock(Date.now());
    await using gw = await startGateway({ clock, env: env(), isAlone: true });
    const stranger = await generateKeyPair('RS256');
    const nowS = Math.floor(Date.now() / 1000);
    const token = await sign(first.privateKey, { exp: nowS + 10_000 });
    expect(await statusWith(gw, token)).toBe(200);
    issuer.isDown = true;
    const readsBefore = issuer.reads;
    await clock.advance(11 * 60_000);
    for (let n = 0; n < 5; n++) expect(await statusWith(gw, token)).toBe(200);
    for (let n = 0; n < 5; n++) {
      const unknown = await sign(stranger.privateKey, { kid: `unknown ${n}`, exp: nowS + 10_000 });
      expect(await statusWith(gw, unknown)).toBe(401);
    }
    expect(issuer.reads - readsBefore).toBe(1);
    expect(gw.logLines.filter(({ level }) => level === 'error')).toHaveLength(1);
    await clock.advance(50 * 60_000);
    expect(await statusWith(gw, token)).toBe(401);
    issuer.isDown = false;
    await clock.advance(30_000);
    expect(await statusWith(gw, token)).toBe(200);
  });

  it('ends a live socket with 4403 and an event stream with UNAUTHENTICATED when the token expires', async () => {
    const clock = new ManualClock(Date.now());
    await using gw = await startGateway({ clock, env: env() });
    const exp = Math.floor(clock.wallMs() / 1000) + 60;
    const token = await sign(first.privateKey, { exp });
    await using socket = await openSocket(gw, { init: { authorization: `Bearer ${token}` } });
    const stream = await openEventStream(gw, 'subscription { triggerChanges { kind } }', {
      headers: { authorization: `Bearer ${token}` },
    });
    await clock.advance(60_000);
    expect(stream.text()).not.toContain('event:');
    expect(socket.socket.readyState).toBe(socket.socket.OPEN);
    await clock.advance(10_000);
    expect((await socket.closed).code).toBe(4403);
    expect(lastEventsOf(await stream.ended)).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      complete: 'event: complete\ndata:',
    });
  });
});

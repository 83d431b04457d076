import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.js';
import { listen } from '../../src/server/http/listen.js';
import { startForwardProxy } from '../support/forward-proxy.js';
import { startGateway } from '../support/gateway.js';

const query = '{ sensors(first: 3) { nodes { stationCode catalogueId } } }';
const credentials = 'gateway:hunter2%40the-proxy';

afterEach(() => vi.unstubAllEnvs());

/** The sandbox under names that only the proxy can resolve. */
function behindNames({ projectUrl, catalogueUrl }: Sandbox) {
  return {
    PROJECT_API_URL: projectUrl.replace('127.0.0.1', 'project.test'),
    CATALOGUE_API_URL: catalogueUrl.replace('127.0.0.1', 'catalogue.test'),
  };
}

describe('a proxy that the standard variables name', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('carries every request to http upstream: %s', async (variable) => {
    await using proxy = await startForwardProxy(credentials);
    await using sandbox = await startSandbox({ live: false });
    const env = { ...behindNames(sandbox), [variable]: proxy.url };
    await using gw = await startGateway({ behind: sandbox, env });
    const { sensors } = await gw.query(query);
    expect(sensors.nodes).toHaveLength(3);
    const { catalogueId } = sensors.nodes.find((node: { catalogueId: string | null }) => node.catalogueId);
    const window = 'start=2026-01-01T00:00:00Z&end=2026-01-01T00:01:00Z';
    const waveform = await gw.fetch(`/waveforms/${catalogueId}/HNZ.mseed?${window}`);
    expect(waveform.status).toBe(200);
    expect((await waveform.arrayBuffer()).byteLength).toBeGreaterThan(0);
    expect(proxy.passed).toHaveLength(sandbox.requests.length);
    expect(proxy.passed).toContainEqual(
      expect.stringMatching(/^GET http:\/\/project\.test:\d+\/project-api\/v1\/sensors/),
    );
    expect(proxy.passed).toContainEqual(
      expect.stringMatching(/^GET http:\/\/catalogue\.test:\d+\/catalogue-api\/v1\/sensors\/.+\/data/),
    );
  });

  it('tunnels to https upstream', async () => {
    await using proxy = await startForwardProxy(credentials);
    await using sandbox = await startSandbox({ live: false });
    const { port, pathname } = new URL(sandbox.projectUrl);
    const pem = readFileSync(new URL('../support/self-signed.pem', import.meta.url));
    const secured = createTls({ key: pem, cert: pem }, (socket) => {
      const plain = connect(Number(port), '127.0.0.1');
      for (const end of [socket, plain]) end.on('error', () => plain.destroy());
      socket.pipe(plain).pipe(socket);
    });
    const tls = await listen(secured, 0, '127.0.0.1');
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const env = { PROJECT_API_URL: `https://upstream.test:${tls.port}${pathname}`, HTTPS_PROXY: proxy.url };
    {
      await using gw = await startGateway({ behind: sandbox, catalogue: false, env });
      expect((await gw.query(query)).sensors.nodes).toHaveLength(3);
    }
    expect(new Set(proxy.passed)).toEqual(new Set([`CONNECT upstream.test:${tls.port}`]));
    await tls.close();
  });

  it('is not asked for the hosts of NO_PROXY', async () => {
    await using proxy = await startForwardProxy();
    await using sandbox = await startSandbox({ live: false });
    const { CATALOGUE_API_URL } = behindNames(sandbox);
    const env = { CATALOGUE_API_URL, HTTP_PROXY: proxy.url, NO_PROXY: 'elsewhere.test, 127.0.0.1' };
    await using gw = await startGateway({ behind: sandbox, env });
    await gw.query(query);
    expect(sandbox.seen('project').length).toBeGreaterThan(0);
    expect(proxy.passed).toHaveLength(sandbox.seen('catalogue').length);
    expect(proxy.passed.length).toBeGreaterThan(0);
  });

  it('is not asked for the embedded sandbox', async () => {
    await using proxy = await startForwardProxy();
    const env = { SANDBOX: 'true', HTTP_PROXY: proxy.url };
    await using gw = await startGateway({ project: false, catalogue: false, env, isAlone: true });
    expect((await gw.query(query)).sensors.nodes).toHaveLength(3);
    expect(proxy.passed).toEqual([]);
  });

  it.each(['http', 'https'])(
    'is an interface that cannot be reached where it refuses: %s',
    async (scheme) => {
      await using proxy = await startForwardProxy('gateway:another');
      await using sandbox = await startSandbox({ live: false });
      const PROJECT_API_URL = behindNames(sandbox).PROJECT_API_URL.replace('http', scheme);
      const HTTP_PROXY = proxy.url.replace('gateway:another', credentials);
      await using gw = await startGateway({
        behind: sandbox,
        catalogue: false,
        env: { PROJECT_API_URL, HTTP_PROXY },
      });
      const answer = await gw.queryWithErrors(query);
      expect(answer.errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
      for (const secret of ['hunter2', btoa(decodeURIComponent(credentials))]) {
        expect(gw.logText).not.toContain(secret);
        expect(JSON.stringify(answer)).not.toContain(secret);
      }
      expect(proxy.passed).toEqual([]);
      expect(gw.logLines.filter(({ msg }) => /fault/i.test(String(msg)))).toEqual([]);
    },
  );

  it('carries the keys of JWT_JWKS_URL', async () => {
    await using proxy = await startForwardProxy(credentials);
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'first', alg: 'RS256', use: 'sig' }];
    const issuer = createServer((_, response) => response.end(JSON.stringify({ keys })));
    const { port, close } = await listen(issuer, 0, '127.0.0.1');
    const env = {
      AUTH_MODE: 'jwt',
      JWT_JWKS_URL: `http://issuer.test:${port}/keys`,
      JWT_ISSUER: 'https://id.example',
      JWT_AUDIENCE: 'seisgraph',
      HTTP_PROXY: proxy.url,
      NO_PROXY: '127.0.0.1',
    };
    await using gw = await startGateway({ env, isAlone: true });
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .setIssuer(env.JWT_ISSUER)
      .setAudience(env.JWT_AUDIENCE)
      .setExpirationTime('5 minutes')
      .sign(privateKey);
    const headers = { authorization: `Bearer ${token}` };
    expect((await gw.query(query, {}, { headers })).sensors.nodes).toHaveLength(3);
    expect(proxy.passed).toEqual([`GET http://issuer.test:${port}/keys`]);
    issuer.closeAllConnections();
    await close();
  });
});

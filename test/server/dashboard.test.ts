import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type BuiltDashboard, buildDashboard } from '../support/dashboard.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

// The build takes seconds, and more beside other tests.
vi.setConfig({ hookTimeout: 180_000 });

const mostScriptBytes = 350 * 1024;

let built: BuiltDashboard;
beforeAll(() => {
  built = buildDashboard();
});
afterAll(() => built.remove());

const start = (env: Readonly<Record<string, string>> = {}): Promise<TestGateway> =>
  startGateway({ env: { DASHBOARD: 'true', ...env }, dashboardFolder: built.folder });

async function addressesIn(gw: TestGateway): Promise<readonly string[]> {
  const html = await (await gw.fetch('/dashboard/')).text();
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
}

describe('the dashboard', () => {
  it('is at a folder, so that its addresses can be relative', async () => {
    await using gw = await start();
    for (const method of ['GET', 'HEAD']) {
      const response = await gw.fetch('/dashboard', { method, redirect: 'manual' });
      expect([response.status, response.headers.get('location')]).toEqual([302, './dashboard/']);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    const addresses = await addressesIn(gw);
    expect(addresses.length).toBeGreaterThanOrEqual(3);
    for (const address of addresses) expect(address).toMatch(/^\.\//);
  });

  it('is asked for anew each time, and sent only when it has changed', async () => {
    await using gw = await start();
    const first = await gw.fetch('/dashboard/');
    expect(first.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('content-encoding')).toBe('gzip');
    expect(first.headers.get('vary')).toBe('Origin, Accept-Encoding');
    const html = await first.text();
    const etag = first.headers.get('etag') ?? '';
    const again = await gw.fetch('/dashboard/', { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const shorter = await gw.fetch('/dashboard/', { headers: { 'accept-encoding': 'gzip, br' } });
    expect(shorter.headers.get('content-encoding')).toBe('br');
    expect(shorter.headers.get('etag')).not.toBe(etag);
    expect(await shorter.text()).toBe(html);
    const plain = await gw.fetch('/dashboard/', { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('etag')).not.toBe(etag);
    expect(await plain.text()).toBe(html);
    const head = await gw.fetch('/dashboard/', { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  });

  it('has files that are immutable where their names have a hash', async () => {
    await using gw = await start();
    for (const address of await addressesIn(gw)) {
      const response = await gw.fetch(`/dashboard/${address.slice(2)}`);
      expect(response.status).toBe(200);
      const control = response.headers.get('cache-control');
      if (address.startsWith('./assets/')) expect(control).toBe('private, max-age=31536000, immutable');
      else expect(control).toBe('private, no-cache');
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
  });

  it('has a policy under which nothing comes from elsewhere, and no text of the page runs', async () => {
    await using gw = await start();
    const response = await gw.fetch('/dashboard/');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
    expect(await response.text()).not.toMatch(/<script(?![^>]*src=)|style=|<style/);
  });

  it('answers nothing else', async () => {
    await using gw = await start();
    for (const path of [
      '/dashboard/x',
      '/dashboard/index.html.br',
      '/dashboard/assets/',
      '/dashboard/%2e%2e/app.js',
      '/dashboardx',
    ]) {
      expect((await gw.fetch(path)).status, path).toBe(404);
    }
    const post = await gw.fetch('/dashboard/', { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('leads a browser from another path to the view of that name, or to the page that says there is none', async () => {
    await using gw = await start();
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const [path, location] of [
      ['/dashboard/stations', './#/stations'],
      ['/dashboard/nonsense', './#/nonsense'],
      ['/dashboard/sensors/abc', '../#/sensors/abc'],
      ['/dashboard/assets/', '../#/assets/'],
    ] as const) {
      const response = await gw.fetch(path, { headers: browser, redirect: 'manual' });
      expect([response.status, response.headers.get('location')], path).toEqual([302, location]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect((await gw.fetch(path, { headers: browser })).url).toBe(`${gw.url}/dashboard/`);
      expect((await gw.fetch(path)).status, path).toBe(404);
    }
  });

  it('is served without a credential, as GraphiQL is, and the graph is not', async () => {
    await using gw = await start({ AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-the-dashboard' });
    expect((await gw.fetch('/dashboard/')).status).toBe(200);
    expect((await gw.queryWithErrors('{ gateway { version } }')).status).toBe(401);
  });

  it('is not there unless it is wanted, and says where it is not built', async () => {
    await using off = await startGateway({ dashboardFolder: built.folder });
    expect((await off.fetch('/dashboard/')).status).toBe(404);
    const nowhere = new URL('nowhere/', built.folder);
    await using unbuilt = await startGateway({ env: { DASHBOARD: 'true' }, dashboardFolder: nowhere });
    const response = await unbuilt.fetch('/dashboard/');
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('npm run build');
  });

  it('has a script that a slow line carries', () => {
    const assets = new URL('assets/', built.folder);
    const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
    const bytes = scripts.map((name) => gzipSync(readFileSync(new URL(name, assets))).length);
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(mostScriptBytes);
  });
});

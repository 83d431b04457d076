import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { readOperationFiles } from '../../src/server/execution/operation-files.js';
import { startGateway } from '../support/gateway.js';

const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

const nodeEnv = process.env.NODE_ENV;
afterEach(() => {
  process.env.NODE_ENV = nodeEnv;
});

describe('GraphiQL', () => {
  it('comes whole: it names no other host that it would load from', async () => {
    await using gw = await startGateway();
    const response = await gw.fetch('/graphql', { headers: asBrowser });
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    const markup = html.replace(/<(script|style)>.*?<\/\1>/gs, '');
    expect(markup).not.toMatch(/(src|href)="?(https?:)?\/\//);
    expect(html.match(/<style>(.*?)<\/style>/s)?.[1]).not.toMatch(/@import|url\(["']?(https?:)?\/\//);
  });

  it('has a policy that lets its own script run, and nothing load from elsewhere', async () => {
    await using gw = await startGateway();
    const response = await gw.fetch('/graphql', { headers: asBrowser });
    const policy = response.headers.get('content-security-policy') ?? '';
    const html = await response.text();
    const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map((match) => match[1] ?? '');
    expect(scripts).toHaveLength(1);
    const hash = createHash('sha256')
      .update(scripts[0] ?? '')
      .digest('base64');
    expect(policy).toContain(`script-src 'sha256-${hash}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  it('opens with a tab for each ready operation, and keeps no header', async () => {
    await using gw = await startGateway();
    const html = await (await gw.fetch('/graphql', { headers: asBrowser })).text();
    const files = readOperationFiles();
    expect(files.length).toBeGreaterThanOrEqual(8);
    for (const { text } of files) expect(html).toContain(JSON.stringify({ query: text }));
    expect(html).toContain('"shouldPersistHeaders":false');
  });

  it('is sent compressed, and not at all when the browser has it', async () => {
    await using gw = await startGateway();
    const first = await gw.fetch('/graphql', { headers: asBrowser });
    expect(first.headers.get('content-encoding')).toBe('gzip');
    await first.arrayBuffer();
    const etag = first.headers.get('etag') ?? '';
    const again = await gw.fetch('/graphql', { headers: { ...asBrowser, 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const weakened = { ...asBrowser, 'if-none-match': `"another", W/${etag}` };
    expect((await gw.fetch('/graphql', { headers: weakened })).status).toBe(304);
    const plain = await gw.fetch('/graphql', { headers: { ...asBrowser, 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect((await plain.text()).startsWith('<!doctype html>')).toBe(true);
    expect(plain.headers.get('etag')).not.toBe(etag);
    const vary = first.headers.get('vary')?.split(', ') ?? [];
    expect(vary).toEqual([...new Set(vary)]);
    const unwanted = { ...asBrowser, 'accept-encoding': 'gzip;q=0' };
    const uncompressed = await gw.fetch('/graphql', { headers: unwanted });
    expect(uncompressed.headers.get('content-encoding')).toBeNull();
    await uncompressed.arrayBuffer();
  });

  it('is the page even where the address has a query: a link runs nothing', async () => {
    await using gw = await startGateway();
    const response = await gw.fetch('/graphql?query={__typename}', { headers: asBrowser });
    expect(response.headers.get('content-type')).toContain('text/html');
    await response.arrayBuffer();
  });

  it.each(['production', 'development', undefined])(
    'is there or not by its own setting, NODE_ENV %s',
    async (env) => {
      if (env === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = env;
      await using on = await startGateway();
      const page = await on.fetch('/graphql', { headers: asBrowser });
      expect(page.status).toBe(200);
      await page.arrayBuffer();
      await using off = await startGateway({ env: { GRAPHIQL: 'false' } });
      const refused = await off.fetch('/graphql', { headers: asBrowser });
      expect(refused.status).toBe(406);
      expect(refused.headers.get('content-type')).toContain('application/json');
      expect(await off.query('{ __typename }')).toEqual({ __typename: 'Query' });
    },
  );
});

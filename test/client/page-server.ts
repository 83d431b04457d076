import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanUpAfterTests } from '../support/clean-up.js';

export interface PageServer extends AsyncDisposable {
  readonly origin: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const modules = {
  graphql: '/node_modules/graphql/index.mjs',
  'graphql-ws/client': '/node_modules/graphql-ws/dist/client.js',
  'seisgraph/client': '/client/index.js',
};
const html = `<!doctype html><title>A page</title><script type="importmap">${JSON.stringify({ imports: modules })}</script>`;

/** An origin whose pages can import `seisgraph/client` as it is published, without a bundler. */
export async function startPageServer(): Promise<PageServer> {
  const folder = mkdtempSync(join(tmpdir(), 'seisgraph-client-'));
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-p', 'src/client', '--noCheck', '--declaration', 'false', '--outDir', folder], {
    cwd: root,
  });
  const server = createServer(({ url = '/' }, response) => {
    // A sandboxed frame is of another origin, and asks for modules as such.
    response.setHeader('access-control-allow-origin', '*');
    const path = normalize(new URL(url, 'http://page').pathname);
    if (path === '/') return response.setHeader('content-type', 'text/html').end(html);
    try {
      const file = join(path.startsWith('/client/') ? folder : root, path);
      response.setHeader('content-type', 'text/javascript').end(readFileSync(file));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  cleanUpAfterTests(close);
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

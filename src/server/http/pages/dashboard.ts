import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { dayMs } from '../../../clock.js';
import { asksForPage } from '../request/media-type.js';
import { refuse } from '../response/reply.js';
import { madeOnce, pagePolicy, type StaticContent, sendStatic } from '../response/send-static.js';

/** The dashboard as static files, each read when it is first asked for. Like GraphiQL it is open to all: its requests to the graph are not. */
export interface Dashboard {
  /** @param path below `/dashboard`, with its slash; empty for `/dashboard` itself */
  send(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
}

/** @param folder with the result of `vite build` */
export function dashboardPages(folder: URL): Dashboard {
  const files = madeOnce(() => filesOf(folder));
  return {
    async send(request, response, path) {
      if (path === '') {
        // The page names its files relative to this address, so that it also works under the path prefix of a proxy.
        response.writeHead(302, { location: './dashboard/', 'cache-control': 'no-store' }).end();
        return;
      }
      const known = await files();
      const file = known.get(path === '/' ? '/index.html' : path);
      if (file) return sendStatic(await file(), request, response);
      if (known.size > 0 && asksForPage(request)) return leadBack(response, path);
      const message = known.size > 0 ? 'There is no such file' : 'The dashboard is not built: npm run build';
      refuse(response, 404, message);
    },
  };
}

/** The page says that there is no such view, or has the view that was meant: its own addresses are behind a #. */
function leadBack(response: ServerResponse, path: string): void {
  const up = '../'.repeat(path.split('/').length - 2);
  response.writeHead(302, { location: `${up || './'}#${path}`, 'cache-control': 'no-store' }).end();
}

/**
 * By path. Empty without the folder, as where the gateway runs from source. The page itself does not wait until the coasts and
 * borders, which are most of it, are compressed.
 */
async function filesOf(folder: URL): Promise<ReadonlyMap<string, () => Promise<StaticContent>>> {
  const root = fileURLToPath(folder);
  const entries = existsSync(root) ? await readdir(root, { recursive: true, withFileTypes: true }) : [];
  const files = entries.flatMap((entry) => (entry.isFile() ? join(entry.parentPath, entry.name) : []));
  const pathOf = (file: string) => `/${relative(root, file).replaceAll(sep, '/')}`;
  return new Map(
    files
      .filter((file) => !file.endsWith('.br'))
      .map((file) => [pathOf(file), madeOnce(() => readStatic(file, files.includes(`${file}.br`)))]),
  );
}

/** @param hasBrotli whether the build wrote the file in Brotli too */
async function readStatic(file: string, hasBrotli: boolean): Promise<StaticContent> {
  const body = await readFile(file);
  return {
    type: types[extname(file)] ?? 'application/octet-stream',
    body,
    gzipped: await promisify(gzip)(body, { level: 9 }),
    ...(hasBrotli && { brotli: await readFile(`${file}.br`) }),
    digest: createHash('sha256').update(body).digest('base64url'),
    policy,
    // The name of an asset has a hash of its content.
    ...(basename(dirname(file)) === 'assets' && { cacheControl: immutable }),
  };
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const immutable = `private, max-age=${(365 * dayMs) / 1000}, immutable`;

// Everything is of the gateway's own origin.
const policy = pagePolicy("script-src 'self'", "style-src 'self'");

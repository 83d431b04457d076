import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { dayMs } from '../../clock.js';
import { heldOf } from './caching.js';
import { codingsFor } from './content-coding.js';
import { refuse } from './reply.js';

/** The dashboard as static files, read once. Like GraphiQL it is open to all: its requests to the graph are not. */
export interface Dashboard {
  /** @param path below `/dashboard`, with its slash; empty for `/dashboard` itself */
  send(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>;
}

/** @param folder with the result of `vite build` */
export function dashboardPages(folder: URL): Dashboard {
  let files: Promise<ReadonlyMap<string, StaticFile>> | null = null;
  return {
    async send(request, response, path) {
      if (path === '') {
        // The page names its files relative to this address, so that it also works under the path prefix of a proxy.
        response.writeHead(302, { location: './dashboard/', 'cache-control': 'no-store' }).end();
        return;
      }
      files ??= readFolder(folder);
      files.catch(() => {
        files = null;
      });
      const known = await files;
      const file = known.get(path === '/' ? '/index.html' : path);
      if (file) return sendFile(file, request, response);
      const message = known.size > 0 ? 'There is no such file' : 'The dashboard is not built: npm run build';
      refuse(response, 404, message);
    },
  };
}

interface StaticFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  readonly digest: string;
  /** Its name has a hash of its content. */
  readonly isImmutable: boolean;
}

/** By path. Empty without the folder, as where the gateway runs from source. */
async function readFolder(folder: URL): Promise<ReadonlyMap<string, StaticFile>> {
  const root = fileURLToPath(folder);
  const entries = existsSync(root) ? await readdir(root, { recursive: true, withFileTypes: true }) : [];
  const files = entries.flatMap((entry) => (entry.isFile() ? join(entry.parentPath, entry.name) : []));
  const read = async (file: string) =>
    [`/${relative(root, file).replaceAll(sep, '/')}`, await readStatic(file)] as const;
  return new Map(await Promise.all(files.map(read)));
}

async function readStatic(file: string): Promise<StaticFile> {
  const body = await readFile(file);
  return {
    type: types[extname(file)] ?? 'application/octet-stream',
    body,
    gzipped: await promisify(gzip)(body, { level: 9 }),
    digest: createHash('sha256').update(body).digest('base64url'),
    isImmutable: basename(dirname(file)) === 'assets',
  };
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

function sendFile(file: StaticFile, request: IncomingMessage, response: ServerResponse): void {
  const takesGzip = codingsFor(request.headers['accept-encoding']).includes('gzip');
  // A strong validator differs for each encoding (RFC 9110 8.8.3).
  const etag = `"${file.digest}${takesGzip ? '-gzip' : ''}"`;
  response.setHeader('content-security-policy', policy);
  response.setHeader('cache-control', file.isImmutable ? immutable : 'private, no-cache');
  response.setHeader('etag', etag);
  if (heldOf(request.headers['if-none-match'], [etag]) !== null) {
    response.writeHead(304).end();
    return;
  }
  const body = takesGzip ? file.gzipped : file.body;
  if (takesGzip) response.setHeader('content-encoding', 'gzip');
  response.writeHead(200, { 'content-type': file.type, 'content-length': body.length });
  response.end(body);
}

const immutable = `private, max-age=${(365 * dayMs) / 1000}, immutable`;

// Everything is of the gateway's own origin.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

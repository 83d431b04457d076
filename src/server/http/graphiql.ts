import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import type { OperationFile } from '../execution/operation-files.js';
import { heldOf } from './caching.js';
import { codingsFor } from './content-coding.js';
import { graphiqlFetcher } from './graphiql-fetcher.js';
import { graphiqlStyle, graphiqlTabs } from './graphiql-tabs.js';

/** The GraphiQL page as one self-contained response, without requests to other hosts. */
export interface GraphiQLPage {
  send(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export function graphiqlPage(files: readonly OperationFile[]): GraphiQLPage {
  const first = files.filter(({ name }) => name === 'overview');
  const others = files.filter((file) => !first.includes(file));
  const options = {
    title: 'seisgraph',
    tabs: [...first, ...others].map(({ text }) => ({ query: text })),
    // The headers editor holds keys, which must not be stored in the browser.
    shouldPersistHeaders: false,
  };
  let page: Promise<Page> | null = null;
  return {
    async send(request, response) {
      page ??= renderPage(options);
      page.catch(() => {
        page = null;
      });
      sendPage(await page, request, response);
    },
  };
}

interface Page {
  readonly gzipped: Buffer;
  readonly scriptHash: string;
  readonly digest: string;
}

/**
 * Makes the page in a worker thread, which then ends and frees the 9 MB script. On this thread it would block the event loop
 * for most of a second and retain 70 MB.
 */
function renderPage(options: object): Promise<Page> {
  const renderer = createRequire(import.meta.url).resolve('@graphql-yoga/render-graphiql');
  const worker = new Worker(renderJob, {
    eval: true,
    workerData: { renderer, options, style: graphiqlStyle, script: graphiqlTabs + graphiqlFetcher },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', ({ gzipped, scriptHash, digest }) => {
      resolve({ gzipped: Buffer.from(gzipped), scriptHash, digest });
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('GraphiQL was not rendered')));
  });
}

// A JavaScript text, since Node 20 cannot load a worker from TypeScript when the gateway runs from source.
const renderJob = `
const { createHash } = require('node:crypto');
const { parentPort, workerData } = require('node:worker_threads');
const { gzipSync } = require('node:zlib');
const { renderer, options, style, script: ownScript } = workerData;
const html = require(renderer).renderGraphiQL({ title: options.title });
const call = html.lastIndexOf('YogaGraphiQL.renderYogaGraphiQL(');
const start = html.indexOf('<script>') + '<script>'.length;
if (call < start) throw new Error('The layout of GraphiQL has changed');
const literal = JSON.stringify(options).replaceAll('<', '\\\\u003c');
const script = html.slice(start, call) + ownScript + 'const { tabs, ...options } = ' + literal + ';' +
  'YogaGraphiQL.renderYogaGraphiQL(document.querySelector("#root"), ' +
  '{ ...options, ...openingTabs(tabs), fetcher: gatewayFetcher });';
const page = html.slice(0, start - '<script>'.length) + '<style>' + style + '</style><script>' + script + '</script></body></html>';
const sha256 = (text) => createHash('sha256').update(text).digest('base64');
parentPort.postMessage({ gzipped: gzipSync(page.trimStart()), scriptHash: sha256(script), digest: sha256(page) });
`;

function sendPage(page: Page, request: IncomingMessage, response: ServerResponse): void {
  const takesGzip = codingsFor(request.headers['accept-encoding']).includes('gzip');
  // A strong validator differs for each encoding (RFC 9110 8.8.3).
  const etag = `"${page.digest}${takesGzip ? '-gzip' : ''}"`;
  response.setHeader('content-security-policy', pagePolicy(page.scriptHash));
  response.setHeader('cache-control', 'private, no-cache');
  response.setHeader('etag', etag);
  if (heldOf(request.headers['if-none-match'], [etag]) !== null) {
    response.writeHead(304).end();
    return;
  }
  const body = takesGzip ? page.gzipped : gunzipSync(page.gzipped);
  if (takesGzip) response.setHeader('content-encoding', 'gzip');
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

// The editor creates workers from blobs and inline styles; all else is part of the page.
function pagePolicy(scriptHash: string): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${scriptHash}'`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    'worker-src blob:',
    "img-src 'self' data:",
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

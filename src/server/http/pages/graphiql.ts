import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { OperationFile } from '../../execution/operation-files.js';
import { madeOnce, pagePolicy, type StaticContent, sendStatic } from '../response/send-static.js';
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
  const page = madeOnce(() => renderPage(options));
  return {
    async send(request, response) {
      sendStatic(await page(), request, response);
    },
  };
}

/**
 * Makes the page in a worker thread, which then ends and frees the 9 MB script. On this thread it would block the event loop
 * for most of a second and retain 70 MB.
 */
function renderPage(options: object): Promise<StaticContent> {
  const renderer = createRequire(import.meta.url).resolve('@graphql-yoga/render-graphiql');
  const worker = new Worker(renderJob, {
    eval: true,
    workerData: { renderer, options, style: graphiqlStyle, script: graphiqlTabs + graphiqlFetcher },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', ({ gzipped, scriptHash, digest }) => {
      const policy = policyOf(scriptHash);
      resolve({ type: 'text/html; charset=utf-8', gzipped: Buffer.from(gzipped), policy, digest });
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

// The editor creates workers from blobs and inline styles; all else is part of the page.
const policyOf = (scriptHash: string) =>
  pagePolicy(
    `script-src 'sha256-${scriptHash}'`,
    "style-src 'unsafe-inline'",
    'worker-src blob:',
    'font-src data:',
  );

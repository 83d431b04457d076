import { createServer, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { listen } from '../../src/server/http/listen.js';
import { cleanUpAfterTests } from './clean-up.js';

export interface PrefixProxy extends AsyncDisposable {
  /** With the prefix. */
  readonly url: string;
  /** Breaks every connection and lets none through, until `mend`. */
  cut(): void;
  mend(): void;
}

/** A reverse proxy that serves `target` under `prefix` and strips it, as ingresses do; WebSockets too. */
export async function startPrefixProxy(target: string, prefix: string): Promise<PrefixProxy> {
  const forward = ({ url = '', method, headers }: IncomingMessage) =>
    request(target + url.slice(prefix.length), { method, headers });
  let isCut = false;
  const server = createServer((incoming, outgoing) => {
    if (isCut) {
      incoming.socket.destroy();
      return;
    }
    if (!incoming.url?.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const forwarded = forward(incoming);
    forwarded.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  const sockets = new Set<Socket>();
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    const forwarded = forward(incoming);
    forwarded.on('upgrade', ({ rawHeaders }, upstream) => {
      const fields = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : []));
      socket.write(`${['HTTP/1.1 101 Switching Protocols', ...fields].join('\r\n')}\r\n\r\n`);
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
      socket.pipe(upstream).pipe(socket);
    });
    forwarded.on('error', () => socket.destroy());
    forwarded.end();
  });
  const { url } = await listen(server, 0, '127.0.0.1');
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
  };
  const close = async () => {
    breakAll();
    server.close();
  };
  cleanUpAfterTests(close);
  return {
    url: url + prefix,
    cut() {
      isCut = true;
      breakAll();
    },
    mend() {
      isCut = false;
    },
    [Symbol.asyncDispose]: close,
  };
}

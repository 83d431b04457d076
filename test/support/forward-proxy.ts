import { createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from '../../src/server/http/listen.js';
import { cleanUpAfterTests } from './clean-up.js';

export interface ForwardProxy extends AsyncDisposable {
  /** With the credentials. */
  readonly url: string;
  /** Method and target of each request that it let through. */
  readonly passed: readonly string[];
}

/**
 * A proxy as HTTP_PROXY names one: requests for whole addresses, and tunnels. Every name is this machine to it. With
 * credentials it refuses those who do not send them.
 */
export async function startForwardProxy(credentials = ''): Promise<ForwardProxy> {
  const passed: string[] = [];
  const sockets = new Set<Duplex>();
  const wanted = `Basic ${Buffer.from(decodeURIComponent(credentials)).toString('base64')}`;
  const isRefused = ({ headers }: IncomingMessage) =>
    credentials !== '' && headers['proxy-authorization'] !== wanted;
  const server = createServer((incoming, outgoing) => {
    if (isRefused(incoming)) {
      outgoing.writeHead(407).end(`${incoming.headers['proxy-authorization']} is not known here`);
      return;
    }
    passed.push(`${incoming.method} ${incoming.url}`);
    const { port, pathname, search } = new URL(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const forwarded = request({ port, path: pathname + search, headers, agent: false });
    forwarded.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    forwarded.end();
  });
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (isRefused(incoming)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    passed.push(`CONNECT ${incoming.url}`);
    const target = connect(Number(incoming.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    target.on('error', () => socket.destroy());
  });
  const { port } = await listen(server, 0, '127.0.0.1');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  };
  cleanUpAfterTests(close);
  return {
    url: `http://${credentials === '' ? '' : `${credentials}@`}127.0.0.1:${port}`,
    passed,
    [Symbol.asyncDispose]: close,
  };
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseOn } from '../response/refuse-connection.js';

type OnUpgrade = (request: IncomingMessage, connection: Socket, following: Buffer) => void;

/**
 * Calls `upgrade` for each request with an Upgrade header, once the requests before it on the connection have been
 * answered (pipelining, RFC 9112 9.3.2). Node calls at once, and whatever writes to the connection or parses it then
 * would get in between those responses.
 */
export function onUpgrade(server: Server, upgrade: OnUpgrade): void {
  const lastResponses = new WeakMap<object, ServerResponse>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
    lastResponses.set(socket, response),
  );
  server.on('upgrade', (request: IncomingMessage, _connection, following: Buffer) => {
    const connection = request.socket;
    const earlier = lastResponses.get(connection);
    if (!earlier || earlier.closed) return upgrade(request, connection, following);
    const destroy = () => connection.destroy();
    // Node has taken its own listener away, and a large response waits for this event.
    const drain = () => responseOn(connection)?.emit('drain');
    connection.on('error', destroy).on('drain', drain);
    // Reading the body of an earlier request resumes the connection, and what follows would flow away unread; while
    // somebody listens for this event, it is held instead.
    connection.on('readable', hold);
    earlier.once('close', () => {
      connection.off('drain', drain).off('readable', hold);
      if (connection.destroyed || connection.writableEnded) return;
      connection.off('error', destroy);
      // The earlier response has started the time-out of an idle connection.
      connection.setTimeout(server.timeout);
      upgrade(request, connection, following);
    });
  });
}

const hold = () => {};

/**
 * True where the client offers WebSocket. Among other protocols it is one only with the key of its handshake: without it
 * the offer is ignored, as a server may (RFC 9110 7.8), and not refused.
 */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  const offered = (headers.upgrade ?? '').split(',').map((protocol) => protocol.trim().toLowerCase());
  if (!offered.includes('websocket')) return false;
  return offered.length === 1 || headers['sec-websocket-key'] !== undefined;
}

/**
 * Answers a request in HTTP/1.1 although it offers another protocol, as RFC 9110 7.8 has it: `curl --http2` and Java's
 * client offer HTTP/2 (`h2c`) with every request. As soon as a server takes WebSockets, Node hands it all requests with
 * an Upgrade header and parses them no further (`shouldUpgradeCallback` is not in Node 20). So the request is given
 * back to the server without that header, before what follows it on the connection.
 */
export function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  connection: Socket,
  following: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (/^(upgrade|http2-settings)$/i.test(name)) continue;
    lines.push(`${name}: ${/^connection$/i.test(name) ? withoutUpgrade(value) : value}`);
  }
  connection.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), following]));
  server.emit('connection', connection);
}

function withoutUpgrade(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !/^(upgrade|http2-settings)$/i.test(option)).join(', ') || 'keep-alive';
}

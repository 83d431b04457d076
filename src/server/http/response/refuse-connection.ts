import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { securityHeaders } from '../browser-safety.js';
import { setHead } from './head.js';
import { bodyOfRefusal, refuse } from './reply.js';

/** Refuses on a connection without a `ServerResponse`, and ends it: an upgrade, or bytes that are no request. */
export function refuseConnection(
  connection: Duplex,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify(bodyOfRefusal(status, message));
  const head = [
    ...securityHeaders,
    ...Object.entries({
      ...headers,
      vary: 'Origin',
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).flat(),
  ];
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at < head.length; at += 2) text += `${head[at]}: ${head[at + 1]}\r\n`;
  connection.end(`${text}\r\n${body}`, () => connection.destroy());
}

/** Gives the refusals that Node itself sends the same headers and body as all others. */
export function refuseMalformed(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, connection) => {
    // Half a response cannot be followed by another.
    if (!connection.writable || responseOn(connection)?.headersSent) return void connection.destroy();
    refuseConnection(connection, ...(refusals[error.code ?? ''] ?? noRequest));
  });
  server.on('checkExpectation', (_request, response) => {
    setHead(response, [...securityHeaders, 'vary', 'Origin', 'connection', 'close']);
    refuse(response, 417, 'Of expectations only 100-continue is met');
  });
}

/** The response in progress, which Node's own listeners keep on the connection. */
export function responseOn(
  connection: Duplex & { readonly _httpMessage?: ServerResponse | null },
): ServerResponse | null {
  return connection._httpMessage ?? null;
}

const noRequest = [400, 'This is not a request in HTTP/1.1'] as const;
const refusals: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
};

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(text);
}

/** Sends one error in the GraphQL format, on every route. Its `http` extension overrides `status`. */
export function sendError(response: ServerResponse, status: number, error: GraphQLError): void {
  const { http, ...extensions } = error.extensions as { http?: ErrorHttp };
  sendJson(response, http?.status ?? status, bodyOf(error.message, extensions), http?.headers);
}

/** Refuses a request before its operation is read. */
export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers?: OutgoingHttpHeaders,
): void {
  sendJson(response, status, bodyOfRefusal(status, message), headers);
}

export const bodyOfRefusal = (status: number, message: string) =>
  bodyOf(message, { code: refusalCodes[status] ?? 'BAD_REQUEST' });

/** True for GET and HEAD, which is a GET without the content (RFC 9110 9.3.2). */
export const isRead = (method: string | undefined) => method === 'GET' || method === 'HEAD';

/** True if the method is allowed; refuses the request with 405 otherwise. */
export function isMethod(
  request: IncomingMessage,
  response: ServerResponse,
  allowed: readonly string[],
): boolean {
  if (allowed.includes(request.method ?? '')) return true;
  refuse(response, 405, `This path answers ${allowed.join(', ')}`, { allow: allowed.join(', ') });
  return false;
}

const refusalCodes: Readonly<Record<number, string>> = {
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  503: 'SHUTTING_DOWN',
};

interface ErrorHttp {
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

const bodyOf = (message: string, extensions: object) => ({ errors: [{ message, extensions }] });

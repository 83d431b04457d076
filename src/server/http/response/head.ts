import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** Headers of every response to one request; name and value alternate, the fastest form for `writeHead`. */
export type Head = string[];

/** For a response that adds headers by `setHeader`, or by `writeHead` with an object. */
export function setHead(response: ServerResponse, head: readonly string[]): void {
  for (let at = 0; at < head.length; at += 2) response.setHeader(head[at] ?? '', head[at + 1] ?? '');
}

export const textOf = (header: IncomingHttpHeaders[string]): string | null =>
  typeof header === 'string' ? header : null;

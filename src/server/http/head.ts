import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

/** Headers that every answer to one request has, name and value in turn: as `writeHead` takes them without a look. */
export type Head = string[];

/** For an answer that adds its own by `setHeader`, or by `writeHead` with an object. */
export function setHead(response: ServerResponse, head: Head): void {
  for (let at = 0; at < head.length; at += 2) response.setHeader(head[at] ?? '', head[at + 1] ?? '');
}

export const textOf = (header: IncomingHttpHeaders[string]): string | null =>
  typeof header === 'string' ? header : null;

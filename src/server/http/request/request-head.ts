import type { IncomingMessage } from 'node:http';

/**
 * Rewrites a request target with scheme and host, as clients send it to a proxy, to the path alone. Its host takes the
 * place of the Host header (RFC 9112 3.2.2).
 */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '', headers } = request;
  if (url.startsWith('/')) return;
  const [, host, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  if (host === undefined) return;
  headers.host = host;
  request.url = path.startsWith('/') ? path : `/${path}`;
}

/**
 * The refusal where a header that decides about host, credentials or body was sent twice; null where none was. Node takes the
 * first, a proxy before it perhaps the last; RFC 9112 3.2 has a second Host refused.
 */
export function refusalOfRepeated({ rawHeaders }: IncomingMessage): string | null {
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? '';
    if (!lengths.has(given.length)) continue;
    const name = given.toLowerCase();
    if (!single.includes(name)) continue;
    if (seen.includes(name)) return `The header ${name} was sent twice: send it once`;
    seen.push(name);
  }
  return null;
}

const single = ['authorization', 'content-type', 'host'];
// Most headers are left out by their length, which takes less than putting each name into lower case.
const lengths = new Set(single.map((name) => name.length));

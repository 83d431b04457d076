import { LRUCache } from 'lru-cache';

/** Media types of the result of a query. */
export type MediaType = 'application/json' | 'application/graphql-response+json' | 'text/event-stream';

// Cached, since clients send the same few headers again and again.
const known = new LRUCache<string, { readonly type: MediaType | null }>({ max: 100 });

/**
 * The media type for an Accept header, by Yoga's rules: JSON where the client accepts it, or else server-sent events.
 * Null for a multipart answer or 406, which Yoga sends.
 */
export function mediaTypeFor(accept: string | undefined): MediaType | null {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'application/json';
  let found = known.get(accept);
  if (!found) {
    found = { type: chosen(accept) };
    known.set(accept, found);
  }
  return found.type;
}

function chosen(accept: string): MediaType | null {
  const taken = accept.replace(/\s/g, '').toLowerCase().split(',').flatMap(typeOf);
  for (const type of taken) {
    if (matches(type, 'application/json')) return 'application/json';
    if (matches(type, 'application/graphql-response+json')) return 'application/graphql-response+json';
  }
  const isEvents = taken.some((type) => matches(type, 'text/event-stream'));
  const isMultipart = taken.some((type) => matches(type, 'multipart/mixed'));
  return isEvents && !isMultipart ? 'text/event-stream' : null;
}

/** The media range without its parameters; empty where a charset other than UTF-8 is requested. */
function typeOf(item: string): string[] {
  const [type = '', ...parameters] = item.split(';');
  const charset = parameters.find((parameter) => parameter.includes('charset='));
  return charset === undefined || charset === 'charset=utf-8' ? [type] : [];
}

function matches(asked: string, type: string): boolean {
  const [range, subtype] = asked.split('/');
  const [ownRange, ownSubtype] = type.split('/');
  return (range === '*' || range === ownRange) && (subtype === '*' || subtype === ownSubtype);
}

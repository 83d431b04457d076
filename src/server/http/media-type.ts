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
  const taken = rangesOf(accept);
  for (const type of taken) {
    if (matches(type, 'application/json')) return 'application/json';
    if (matches(type, 'application/graphql-response+json')) return 'application/graphql-response+json';
  }
  const isEvents = taken.some((type) => matches(type, 'text/event-stream'));
  const isMultipart = taken.some((type) => matches(type, 'multipart/mixed'));
  return isEvents && !isMultipart ? 'text/event-stream' : null;
}

/**
 * The media ranges of an Accept header without their parameters, by weight (RFC 9110 12.4.2), the first ones first. Those
 * of weight 0, and those in a charset other than UTF-8, are left out.
 */
export function rangesOf(accept: string): readonly string[] {
  return accept
    .split(',')
    .map(parsed)
    .filter(({ weight, isUtf8 }) => weight > 0 && isUtf8)
    .sort((one, other) => other.weight - one.weight)
    .map(({ type }) => type);
}

/** True for a body of JSON in UTF-8, the only charset of GraphQL over HTTP; US-ASCII is a part of it. */
export function isJson(contentType = ''): boolean {
  if (contentType === 'application/json') return true;
  const { type, isUtf8 } = parsed(contentType);
  return isUtf8 && (type === 'application/json' || type === 'application/graphql+json');
}

function parsed(item: string): { type: string; weight: number; isUtf8: boolean } {
  const [type = '', ...parameters] = item.replace(/\s/g, '').toLowerCase().split(';');
  const given = (name: string) =>
    parameters.find((parameter) => parameter.startsWith(name))?.slice(name.length);
  return {
    type,
    weight: Number(given('q=') ?? 1) || 0,
    isUtf8: /^"?(utf-?8|us-ascii)"?$/.test(given('charset=') ?? 'utf-8'),
  };
}

function matches(asked: string, type: string): boolean {
  const [range, subtype] = asked.split('/');
  const [ownRange, ownSubtype] = type.split('/');
  return (range === '*' || range === ownRange) && (subtype === '*' || subtype === ownSubtype);
}

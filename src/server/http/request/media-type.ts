import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';

/** Media types of the result of a query. */
export type MediaType = 'application/json' | 'application/graphql-response+json' | 'text/event-stream';

/** Media types of an answer in parts. */
export type PartsType = 'multipart/mixed' | 'text/event-stream';

/** The media types that a client accepts, by its Accept header. */
export interface Accepted {
  /**
   * The media type of an answer that comes whole, by Yoga's rules: JSON where the client accepts it, or else server-sent
   * events. Null where it takes none.
   */
  readonly whole: MediaType | null;
  /** The media type of an answer in parts; null for a client that names none, whose answer comes whole. */
  readonly parts: PartsType | null;
  /** True for the results of a subscription as parts of `multipart/mixed; subscriptionSpec=1.0`. */
  readonly changes: boolean;
  /** True for server-sent events, also where it accepts any type. */
  readonly events: boolean;
}

/** True for a browser that is to show the answer as a page, and not for what a page asks for. */
export function asksForPage({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '');
}

// Cached, since clients send the same few headers again and again.
const known = new LRUCache<string, Accepted>({ max: 100 });
const json: Accepted = { whole: 'application/json', parts: null, changes: false, events: false };
const anything: Accepted = { ...json, events: true };

export function acceptedBy(accept: string | undefined): Accepted {
  if (accept === undefined || accept === '*/*') return anything;
  if (accept === 'application/json') return json;
  const found = known.get(accept) ?? {
    whole: chosen(accept),
    parts: partsChosen(accept),
    changes: weighted(accept).some(({ type, spec }) => type === 'multipart/mixed' && spec === changesSpec),
    events: rangesOf(accept).some((type) => matches(type, 'text/event-stream')),
  };
  known.set(accept, found);
  return found;
}

const changesSpec = 'subscriptionspec=1.0';

/**
 * Only a type that is named counts: every client accepts any type. Parts of another specification are none of ours, and
 * a client that prefers JSON by its weights gets JSON.
 */
function partsChosen(accept: string): PartsType | null {
  const accepted = weighted(accept);
  const json = accepted.find(({ type }) => /^application\/(graphql-response\+)?json$/.test(type));
  for (const { type, spec, weight } of accepted) {
    if (weight < (json?.weight ?? 0)) return null;
    if (type === 'text/event-stream') return type;
    if (type === 'multipart/mixed' && (spec === null || spec === 'deferspec=20220824')) return type;
  }
  return null;
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
 * The media ranges of an Accept header without their parameters, by weight (RFC 9110 12.4.2), the first ones first. Ranges
 * of weight 0 or in a charset other than UTF-8 are left out.
 */
export function rangesOf(accept: string): readonly string[] {
  return weighted(accept).map(({ type }) => type);
}

function weighted(accept: string): readonly ReturnType<typeof parsed>[] {
  return accept
    .split(',')
    .map(parsed)
    .filter(({ weight, isUtf8 }) => weight > 0 && isUtf8)
    .sort((one, other) => other.weight - one.weight);
}

/** True for a body of JSON in UTF-8, the only charset of GraphQL over HTTP; US-ASCII is a part of it. */
export function isJson(contentType = ''): boolean {
  if (contentType === 'application/json') return true;
  const { type, isUtf8 } = parsed(contentType);
  return isUtf8 && (type === 'application/json' || type === 'application/graphql+json');
}

function parsed(item: string): { type: string; weight: number; isUtf8: boolean; spec: string | null } {
  const [type = '', ...parameters] = item.replace(/\s/g, '').toLowerCase().split(';');
  const given = (name: string) =>
    parameters.find((parameter) => parameter.startsWith(name))?.slice(name.length);
  return {
    type,
    weight: Number(given('q=') ?? 1) || 0,
    // Apollo's names of what the parts hold: `deferSpec`, `subscriptionSpec`.
    spec: parameters.find((parameter) => /^\w+spec=/.test(parameter))?.replaceAll('"', '') ?? null,
    isUtf8: /^"?(utf-?8|us-ascii)"?$/.test(given('charset=') ?? 'utf-8'),
  };
}

function matches(asked: string, type: string): boolean {
  const [range, subtype] = asked.split('/');
  const [ownRange, ownSubtype] = type.split('/');
  return (range === '*' || range === ownRange) && (subtype === '*' || subtype === ownSubtype);
}

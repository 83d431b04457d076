import { LRUCache } from 'lru-cache';
import { type Coding, codings } from '../../execution/cached-answer.js';

// Cached, since clients send the same few headers again and again.
const known = new LRUCache<string, readonly Coding[]>({ max: 100 });

/** The codings that an Accept-Encoding header prefers to `identity` (RFC 9110 12.5.3), best first. */
export function codingsFor(acceptEncoding: string | string[] | undefined): readonly Coding[] {
  if (typeof acceptEncoding !== 'string' || acceptEncoding === '' || acceptEncoding === 'identity')
    return none;
  let found = known.get(acceptEncoding);
  if (!found) {
    found = chosen(acceptEncoding);
    known.set(acceptEncoding, found);
  }
  return found;
}

const none: readonly Coding[] = [];

function chosen(acceptEncoding: string): readonly Coding[] {
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(coding, q === undefined ? 1 : Number(q) || 0);
  }
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  // Without an explicit `identity` every accepted coding is preferred to it.
  const identityWeight = weights.get('identity') ?? 0;
  return codings
    .filter((coding) => weightOf(coding) > 0 && weightOf(coding) >= identityWeight)
    .sort((one, other) => weightOf(other) - weightOf(one));
}

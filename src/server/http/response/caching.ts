import type { ForwardMs } from '../../../clock.js';
import type { Dependencies } from '../../../upstream/cache/dependencies.js';
import { freshMs } from '../../../upstream/cache/freshness.js';
import type { CachedAnswer, Coding } from '../../execution/cached-answer.js';
import type { MediaType } from '../request/media-type.js';

// Longest lifetime of any mutable response. It also bounds immutable ones, since a new gateway version may differ.
const longestS = freshMs.network / 1000;

/** Lets a client reuse an answer for as long as it is fresh in the gateway. */
export function cacheControl(dependencies: Dependencies, nowMs: ForwardMs): string {
  const freshS = Math.floor((dependencies.freshUntilMs() - nowMs) / 1000);
  return freshS > 0 ? `private, max-age=${Math.min(longestS, freshS)}` : 'private, no-cache';
}

/** A strong validator: it differs for each media type and encoding of an answer (RFC 9110 8.8.3). */
export function entityTag({ digest }: Digested, type: MediaType, coding: Coding | null): string {
  const variant = type === 'application/json' ? 'json' : 'response';
  return `"${digest}-${variant}${coding === null ? '' : `-${coding}`}"`;
}

/** The entity tag in If-None-Match that matches an acceptable representation of the answer; null without one. */
export function isKnownTo(
  ifNoneMatch: string | undefined,
  answer: Digested,
  type: MediaType,
  codings: readonly Coding[],
): string | null {
  if (ifNoneMatch === undefined) return null;
  return heldOf(
    ifNoneMatch,
    [null, ...codings].map((coding) => entityTag(answer, type, coding)),
  );
}

/** The first of the tags that If-None-Match has. Proxies that compress make a strong tag weak (RFC 9110 13.1.2). */
export function heldOf(ifNoneMatch: string | undefined, tags: readonly string[]): string | null {
  if (ifNoneMatch === undefined) return null;
  if (ifNoneMatch.trim() === '*') return tags[0] ?? null;
  const held = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.find((tag) => held.includes(tag)) ?? null;
}

type Digested = Pick<CachedAnswer, 'digest'>;

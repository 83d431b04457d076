import type { Dependencies } from '../../upstream/cache/dependencies.js';
import type { Coding, KeptAnswer } from '../execution/kept-answer.js';
import type { MediaType } from './media-type.js';

// The longest lifetime of anything that can still change. A new version of the gateway may answer otherwise, too.
const longestS = 300;

/** For how long a client may use an answer without asking again: for as long as it is fresh here. */
export function cacheControl(dependencies: Dependencies, nowMs: number): string {
  const freshS = Math.floor((dependencies.freshUntilMs() - nowMs) / 1000);
  return freshS > 0 ? `private, max-age=${Math.min(longestS, freshS)}` : 'private, no-cache';
}

/** Strong: another tag for each media type and encoding of the same answer (RFC 9110 8.8.3). */
export function entityTag({ digest }: Digested, type: MediaType, coding: Coding | null): string {
  const variant = type === 'application/json' ? 'json' : 'response';
  return `"${digest}-${variant}${coding === null ? '' : `-${coding}`}"`;
}

/** The tag of a representation that the client has, by its If-None-Match, and takes; null where it has none. */
export function isKnownTo(
  ifNoneMatch: string | undefined,
  answer: Digested,
  type: MediaType,
  codings: readonly Coding[],
): string | null {
  if (ifNoneMatch === undefined) return null;
  const tags = [null, ...codings].map((coding) => entityTag(answer, type, coding));
  if (ifNoneMatch.trim() === '*') return tags[0] ?? null;
  const held = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.find((tag) => held.includes(tag)) ?? null;
}

/** Tells its bytes from those of any other answer. */
type Digested = Pick<KeptAnswer, 'digest'>;

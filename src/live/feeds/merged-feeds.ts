import { type ForwardMs, latest } from '../../clock.js';
import type { FeedStatus } from './feed.js';

/** Merges the states of each feed from several processes: subscribers and polls are added up. */
export function mergeFeeds(feeds: readonly FeedStatus[]): readonly FeedStatus[] {
  const merged = new Map<string, FeedStatus>();
  for (const feed of feeds) {
    const known = merged.get(feed.name);
    merged.set(feed.name, known ? merge(known, feed) : feed);
  }
  return [...merged.values()];
}

function merge(one: FeedStatus, other: FeedStatus): FeedStatus {
  return {
    name: one.name,
    isActive: one.isActive || other.isActive,
    subscriberCount: one.subscriberCount + other.subscriberCount,
    intervalMs: Math.min(one.intervalMs, other.intervalMs),
    lastPollAtMs: oneOf<ForwardMs>(latest, one.lastPollAtMs, other.lastPollAtMs),
    // The most recent complete read of any process counts.
    lagMs: oneOf(Math.min, one.lagMs, other.lagMs),
    isFailing: one.isFailing || other.isFailing,
    polls: one.polls + other.polls,
    failures: one.failures + other.failures,
  };
}

function oneOf<Ms extends number>(
  choose: (one: Ms, other: Ms) => Ms,
  one: Ms | null,
  other: Ms | null,
): Ms | null {
  return one === null || other === null ? (one ?? other) : choose(one, other);
}

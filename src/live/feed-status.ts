import type { FeedStatus } from './feed.js';
import type { Poller } from './poller.js';

export interface FeedFacts {
  readonly name: string;
  readonly poller: Poller;
  readonly subscriberCount: number;
  readonly intervalMs: number;
  readonly nowMs: number;
}

export function feedStatus({ name, poller, subscriberCount, intervalMs, nowMs }: FeedFacts): FeedStatus {
  const { startedAtMs, lastSuccessAtMs, lastPollAtMs, polls, failures } = poller.history;
  const { isActive } = poller;
  const withoutSuccessMs = nowMs - (lastSuccessAtMs ?? startedAtMs);
  return {
    name,
    isActive,
    subscriberCount,
    intervalMs,
    lastPollAtMs,
    lagMs: isActive && lastSuccessAtMs !== null ? Math.max(0, nowMs - lastSuccessAtMs) : null,
    isFailing: isActive && withoutSuccessMs > 3 * intervalMs,
    polls,
    failures,
  };
}

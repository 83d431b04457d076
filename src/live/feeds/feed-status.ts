import type { ForwardMs } from '../../clock.js';
import { heartbeatMs } from '../../store/store.js';
import type { Poller } from '../polling/poller.js';
import type { FeedStatus } from './feed.js';

export interface FeedFacts {
  readonly name: string;
  readonly poller: Poller;
  /** When another instance last read upstream to the end; null when this one polls. */
  readonly leaderReadAtMs: ForwardMs | null;
  readonly subscriberCount: number;
  readonly intervalMs: number;
  readonly nowMs: ForwardMs;
}

export function feedStatus(facts: FeedFacts): FeedStatus {
  const { name, poller, leaderReadAtMs, subscriberCount, intervalMs, nowMs } = facts;
  const { startedAtMs, polls, failures, ...here } = poller.history;
  const lastPollAtMs = leaderReadAtMs ?? here.lastPollAtMs;
  const lastSuccessAtMs = leaderReadAtMs ?? here.lastSuccessAtMs;
  const { isActive } = poller;
  // Another instance reports its reads with its next heartbeat.
  const reportDelayMs = leaderReadAtMs === null ? 0 : 2 * heartbeatMs;
  const withoutSuccessMs = nowMs - (lastSuccessAtMs ?? startedAtMs) - reportDelayMs;
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

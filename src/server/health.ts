import type { ServerResponse } from 'node:http';
import type { InterfaceState, InterfaceWatch } from './readiness.js';
import { sendJson } from './reply.js';

/** How a live feed is doing, as `/ready` and the metrics tell it. */
export interface FeedHealth {
  readonly name: string;
  /** Someone listens. */
  readonly active: boolean;
  readonly intervalS: number;
  /** Since its last success; null while it is not active. */
  readonly lagS: number | null;
}

/** `GET /health`: the process is alive. It knows nothing of upstream, so that no outage there restarts it. */
export function sendHealth(response: ServerResponse): void {
  sendJson(response, 200, { status: 'ok' });
}

/** `GET /ready`: whether anything can be answered (contract 3). */
export async function sendReadiness(
  response: ServerResponse,
  watches: readonly InterfaceWatch[],
  feeds: readonly FeedHealth[],
): Promise<void> {
  const interfaces = await Promise.all(
    watches.map(async (watch) => ({ source: watch.source, state: await watch.look() })),
  );
  const shownFeeds = feeds.map((feed) => ({ ...feed, ok: isOnTime(feed) }));
  const status = statusOf(
    interfaces.map(({ state }) => state),
    shownFeeds.every(({ ok }) => ok),
  );
  sendJson(response, status === 'unavailable' ? 503 : 200, { status, interfaces, feeds: shownFeeds });
}

function statusOf(
  states: readonly InterfaceState[],
  feedsOnTime: boolean,
): 'ok' | 'degraded' | 'unavailable' {
  const able = states.filter((state) => state === 'ok').length;
  if (able === 0) return 'unavailable';
  return able === states.length && feedsOnTime ? 'ok' : 'degraded';
}

// A feed that has missed three polls in a row no longer shows what happens.
const isOnTime = ({ active, intervalS, lagS }: FeedHealth) =>
  !active || lagS === null || lagS <= 3 * intervalS;

import type { ServerResponse } from 'node:http';
import { mergeFeeds } from '../../live/feeds/merged-feeds.js';
import type { Connection } from '../../store/store.js';
import { sendJson } from '../http/response/reply.js';
import type { HealthReport } from './peers.js';
import type { InterfaceState, InterfaceWatch } from './readiness.js';

/** `GET /health`: the process is alive. It ignores upstream, so that an outage there causes no restart. */
export function sendHealth(response: ServerResponse): void {
  sendJson(response, 200, { status: 'ok' });
}

/** `GET /ready`: 503 when no interface can answer (docs/behaviour.md 3). */
export async function sendReadiness(
  response: ServerResponse,
  watches: readonly InterfaceWatch[],
  own: HealthReport,
  others: readonly HealthReport[],
  redis: Pick<Connection, 'isUp'> | null,
): Promise<void> {
  const sightings = others.flatMap((other) => other.sightings);
  const interfaces = await Promise.all(
    watches.map(async (watch) => {
      const state = await watch.look(sightings.filter(({ source }) => source === watch.source));
      return { source: watch.source, state };
    }),
  );
  const shownFeeds = mergeFeeds([own, ...others].flatMap(({ feeds }) => feeds)).map(
    ({ name, isActive, isFailing, lagMs }) => ({
      name,
      active: isActive,
      ok: !isFailing,
      lagS: lagMs === null ? null : lagMs / 1000,
    }),
  );
  const status = statusOf(
    interfaces.map(({ state }) => state),
    shownFeeds.every(({ ok }) => ok) && (redis?.isUp ?? true),
  );
  sendJson(response, status === 'unavailable' ? 503 : 200, {
    status,
    interfaces,
    feeds: shownFeeds,
    ...(redis && { redis: redis.isUp ? 'ok' : 'away' }),
  });
}

function statusOf(states: readonly InterfaceState[], restIsWell: boolean): 'ok' | 'degraded' | 'unavailable' {
  // An interface with an exhausted quota degrades the gateway, but its cached responses are still served.
  if (!states.some((state) => state === 'ok' || state === 'spent')) return 'unavailable';
  return states.every((state) => state === 'ok') && restIsWell ? 'ok' : 'degraded';
}

import type { ServerResponse } from 'node:http';
import { mergeFeeds } from '../../live/feeds/merged-feeds.js';
import type { Connection } from '../../store/store.js';
import { sendJson } from '../http/reply.js';
import type { HealthReport } from './peers.js';
import type { InterfaceState, InterfaceWatch } from './readiness.js';

/** `GET /health`: the process is alive. It knows nothing of upstream, so that no outage there restarts it. */
export function sendHealth(response: ServerResponse): void {
  sendJson(response, 200, { status: 'ok' });
}

/** `GET /ready`: whether anything can be answered (docs/behaviour.md 3). */
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
  // One that may not be asked any more today is missed like one that is away, except that what is kept of it is served.
  if (!states.some((state) => state === 'ok' || state === 'spent')) return 'unavailable';
  return states.every((state) => state === 'ok') && restIsWell ? 'ok' : 'degraded';
}

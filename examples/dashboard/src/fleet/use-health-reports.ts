import { useEffect, useState } from 'react';
import { pause } from '../data/pause.js';
import { useSession, useWorld } from '../data/use-world.js';
import type { SensorItem } from '../data/world.js';
import { FleetHealthDocument, type FleetHealthQuery } from '../operations/operations.js';

// Each station costs an upstream request, of which there is about one a second: lists and feeds come first.
const stationsAtOnce = 4;
const pauseMs = 5_000;
const leastBudget = 12;

export type Report = Extract<
  FleetHealthQuery['nodes'][number],
  { latestHealthReport: unknown }
>['latestHealthReport'];

/** Latest reports of the rows in view by sensor id, a few at a time while the budget allows, and once each. */
export function useHealthReports(rows: readonly SensorItem[]): ReadonlyMap<string, Report> {
  const session = useSession();
  const { gateway } = useWorld();
  const [read, setRead] = useState<ReadonlyMap<string, Report>>(new Map());
  const remaining = gateway?.interfaces.find(({ source }) => source === 'PROJECT')?.rateLimit?.remaining ?? 0;
  const missing = rows
    .filter(({ id, deviceId }) => deviceId !== null && !read.has(id))
    .slice(0, stationsAtOnce)
    .map(({ id }) => id)
    .join();
  const isAllowed = remaining >= leastBudget;
  const isUnasked = rows.filter(({ id, deviceId }) => deviceId === null && !read.has(id));

  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows themselves are new at every reading of the list
  useEffect(() => {
    if (isUnasked.length > 0) {
      setRead((before) => new Map([...before, ...isUnasked.map(({ id }) => [id, null] as const)]));
    }
    if (missing === '' || !isAllowed) return;
    const leaving = new AbortController();
    const ids = missing.split(',');
    void (async () => {
      // Rows that are only passed by are not asked for.
      await pause(read.size === 0 ? 800 : pauseMs, leaving.signal);
      if (leaving.signal.aborted) return;
      const { data } = await session.ask(FleetHealthDocument, { ids }, leaving.signal);
      const found = new Map(ids.map((id): [string, Report] => [id, null]));
      for (const node of data.nodes) {
        if (node && 'latestHealthReport' in node) found.set(node.id, node.latestHealthReport);
      }
      setRead((before) => new Map([...before, ...found]));
    })().catch(() => {});
    return () => leaving.abort();
  }, [session, missing, isAllowed, isUnasked.length]);
  return read;
}

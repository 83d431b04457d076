import { useEffect, useRef, useState } from 'react';
import { untilAffordable } from '../data/budget.js';
import { pause } from '../data/pause.js';
import { useContextOfWorld } from '../data/use-world.js';
import type { SensorItem } from '../data/world.js';
import { FleetHealthDocument, type FleetHealthQuery } from '../operations/operations.js';
import { reportAgainMs } from '../shell/old-report.js';

// Each station costs a request, of which there is about one a second: lists and feeds come first.
const stationsAtOnce = 4;
const pauseMs = 4_000;
const toBeLeft = 10;

export type Health = Extract<FleetHealthQuery['nodes'][number], { latestHealthReport: unknown }>;

/** State of health of the rows in view by sensor id, a few at a time while the budget allows, and each again when it has become old. */
export function useHealth(rows: readonly SensorItem[]): ReadonlyMap<string, Health | null> {
  const { session, world } = useContextOfWorld();
  const [read, setRead] = useState<ReadonlyMap<string, Health | null>>(new Map());
  const readMs = useRef(new Map<string, number>());
  const missing = rows
    // Those that only the catalogue knows have none.
    .filter(
      ({ id, deviceId }) => deviceId !== null && (readMs.current.get(id) ?? 0) < Date.now() - reportAgainMs,
    )
    .slice(0, stationsAtOnce)
    .map(({ id }) => id)
    .join();
  const isFirst = read.size === 0;

  useEffect(() => {
    if (missing === '') return;
    const leaving = new AbortController();
    const { signal } = leaving;
    const ids = missing.split(',');
    void (async () => {
      // Rows that are only passed by are not asked for.
      await pause(isFirst ? 600 : pauseMs, signal);
      for (;;) {
        await untilAffordable(world, 'PROJECT', toBeLeft, signal);
        if (signal.aborted) return;
        const answer = await session.ask(FleetHealthDocument, { ids }, signal).catch(() => null);
        if (answer) {
          const found = new Map(ids.map((id): [string, Health | null] => [id, null]));
          for (const node of answer.data.nodes) {
            if (isHealth(node)) found.set(node.id, node);
          }
          for (const id of ids) readMs.current.set(id, Date.now());
          setRead((before) => new Map([...before, ...found]));
          return;
        }
        await pause(pauseMs, signal);
      }
    })();
    return () => leaving.abort();
  }, [session, world, missing, isFirst]);
  return read;
}

const isHealth = (node: FleetHealthQuery['nodes'][number]): node is Health =>
  node !== null && 'latestHealthReport' in node;

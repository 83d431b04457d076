import { describe, expect, it } from 'vitest';
import { listEvents } from '../../src/unify/event/list/list.js';
import { type CatalogueQuake, EventWorld, type ProjectQuake } from './event-world.js';

const nowMs = Date.UTC(2026, 2, 8);

/** `count` earthquakes that both interfaces have under one id, the catalogue `apartS` later. */
function evenly(count: number, everyS: number, apartS: number): EventWorld {
  const project: ProjectQuake[] = [];
  const catalogue: CatalogueQuake[] = [];
  for (let index = 0; index < count; index++) {
    const originMs = nowMs - 3600_000 - index * everyS * 1000;
    const rest = { id: `q${index}`, latitude: 0, longitude: index % 90, depthKm: 5, magnitude: 2 };
    project.push({ ...rest, originMs, issuedMs: originMs + 60_000, origins: [] });
    catalogue.push({ ...rest, originMs: originMs + apartS * 1000, networkId: null });
  }
  return new EventWorld(project, catalogue);
}

async function readPages(
  world: EventWorld,
  pages: number,
): Promise<{ ids: (string | null)[]; sources: number[] }> {
  const ids: (string | null)[] = [];
  const sources: number[] = [];
  let after: string | null = null;
  for (let page = 0; page < pages; page++) {
    const slice: Awaited<ReturnType<typeof listEvents>> = await listEvents(world.context(world.tenant()), {
      orderBy: 'ORIGIN_TIME_DESC',
      first: 50,
      after,
    });
    expect(slice.unavailableSources).toEqual([]);
    ids.push(...slice.edges.map(({ node }) => node.projectEventId));
    sources.push(...slice.edges.map(({ node }) => node.sources.length));
    after = slice.pageInfo.endCursor;
  }
  return { ids, sources };
}

const namesTo = (count: number) => Array.from({ length: count }, (_, index) => `q${index}`);

describe('equal ids', () => {
  it.each([
    ['in a minute, up to a quarter of an hour apart', 60, 870],
    ['in a second, up to two minutes apart', 1, 110],
  ])('are one earthquake where one comes %s', async (_, everyS, apartS) => {
    const world = evenly(3_000, everyS, apartS);
    const { ids, sources } = await readPages(world, 4);
    expect(ids).toEqual(namesTo(200));
    expect(sources.every((count) => count === 2)).toBe(true);
  });

  it.each([60, 10, 1])('cost a page of 50 little where one comes every %i s', async (everyS) => {
    const world = evenly(3_000, everyS, 1);
    await readPages(world, 1);
    expect(world.requests.project + world.requests.catalogue).toBeLessThanOrEqual(everyS === 1 ? 6 : 4);
  });
});

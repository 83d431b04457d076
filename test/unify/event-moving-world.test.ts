import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.js';
import { listEvents } from '../../src/unify/event/list/list.js';
import { reversed } from '../../src/unify/paging.js';
import { type Merged, mergedWorld } from './event-reference.js';
import { type CatalogueQuake, EventWorld, type ProjectQuake, quakes } from './event-world.js';

/** What can happen between two requests, to the event that `which` chooses. */
const happeningsOf = (kinds: readonly Happening['kind'][], most: number) =>
  fc.array(
    fc.record({
      atRequest: fc.integer({ min: 1, max: 30 }),
      kind: fc.constantFrom(...kinds),
      which: fc.nat(),
      // A new solution moves an earthquake by seconds.
      byS: fc.integer({ min: -50, max: 50 }),
      agoS: fc.integer({ min: 0, max: 9 * 3600 }),
      isDelivered: fc.boolean(),
    }),
    { maxLength: most, size: 'max' },
  );

interface Delivered {
  readonly p: string | null;
  readonly c: string | null;
  readonly originMs: number;
}

describe('paging through events while the world goes on', () => {
  it.each([
    ['of all kinds', happeningsOf(['new', 'late', 'reissued', 'catalogued', 'moved'], 12), 100],
    // More solutions within one second than a page has.
    ['in bursts', happeningsOf(['new', 'reissued', 'reissued'], 24), 60],
  ])(
    'has nothing twice, and all that was there when it began, in order: %s',
    async (_, happenings, numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          quakes,
          happenings,
          fc.record({
            projectPage: fc.constantFrom(5, 20, 500),
            cataloguePage: fc.constantFrom(7, 30, 100),
            caches: fc.boolean(),
            takesIn: fc.boolean(),
          }),
          fc.constantFrom('ORIGIN_TIME_DESC' as const, 'ORIGIN_TIME_ASC' as const),
          fc.integer({ min: 1, max: 12 }),
          fc.record({ remembers: fc.boolean(), isBackward: fc.boolean() }),
          async ({ project, catalogue }, happens, options, orderBy, size, { remembers, isBackward }) => {
            const world = new EventWorld(project, catalogue, options);
            const touched = new Set<string>();
            const moved = new Set<string>();
            let requests = 0;
            world.meanwhile = () => {
              requests++;
              for (const happening of happens) {
                if (happening.atRequest === requests) happen(world, happening, touched, moved);
              }
            };

            const delivered: Delivered[] = [];
            const tenant = world.tenant();
            let cursor: string | null = null;
            for (let more = true, pages = 0; more; pages++) {
              if (pages > 300) throw new Error('the pages do not end');
              const context = world.context(remembers ? tenant : world.tenant());
              const args = isBackward ? { last: size, before: cursor } : { first: size, after: cursor };
              const slice = await listEvents(context, { orderBy, ...args });
              fc.pre(slice.unavailableSources.length === 0);
              const { edges, pageInfo } = isBackward ? reversed(slice) : slice;
              for (const { node } of edges) {
                const originMs = node.solution.originTime.ms;
                delivered.push({ p: node.projectEventId, c: node.catalogueEventId, originMs });
              }
              more = pageInfo.hasNextPage;
              cursor = pageInfo.endCursor;
            }

            expectOnce(delivered.map(({ p }) => p));
            // Who stood where nothing happened is there once, and in order; of the others no earthquake is missing.
            const before = mergedWorld(project, catalogue);
            if ((orderBy === 'ORIGIN_TIME_DESC') !== isBackward) before.reverse();
            const unmoved = before.filter((event) => !isNear(event.originMs, touched));
            const seen = delivered.filter(({ originMs }) => !isNear(originMs, touched));
            expect(seen.map(({ p, c }) => (p ? `p:${p}` : `c:${c}`))).toEqual(unmoved.map(({ key }) => key));
            for (const event of before) {
              // The catalogue does not say what it has moved: where that took an event past the cursor, no page has it.
              if (event.project === null && moved.has(event.catalogue?.id ?? '')) continue;
              const isThere = delivered.some((one) => isOf(event, world, one));
              expect(isThere ? '' : `${event.key} is missing`).toBe('');
            }
          },
        ),
        { numRuns },
      );
    },
  );
});

it.each(['ORIGIN_TIME_DESC', 'ORIGIN_TIME_ASC'] as const)(
  'a list in %s ends although upstream orders the events of one moment anew each time',
  async (orderBy) => {
    const originMs = Date.UTC(2026, 2, 7);
    const place = { latitude: 0, longitude: 0, depthKm: 1, magnitude: 2, origins: [] };
    const project = Array.from({ length: 40 }, (_, at) => {
      return { id: `q${at}`, originMs: originMs + at * 1_000, issuedMs: originMs + 3_600_000, ...place };
    });
    const world = new EventWorld(project, [], { projectPage: 5, unsteady: true });
    await listEvents(world.context(), { orderBy, first: 20 });
    expect(world.requests.project).toBeLessThanOrEqual(2 * limits.eventPageRequests);
  },
);

it('a list whose catalogue orders the events of one moment anew each time has all of them, or names it', async () => {
  const originMs = Date.UTC(2026, 2, 7);
  const place = { latitude: 0, longitude: 0, depthKm: 1, magnitude: 2, networkId: null };
  const catalogue = Array.from({ length: 50 }, (_, at) => ({ id: `c${at}`, originMs, ...place }));
  let lacking = 0;
  for (let seed = 0; seed < 20; seed++) {
    const world = new EventWorld([], catalogue, { cataloguePage: 10, unsteady: true, seed });
    const { edges, pageInfo, unavailableSources } = await listEvents(world.context(), {
      orderBy: 'ORIGIN_TIME_DESC',
      first: 100,
    });
    expect(pageInfo.hasNextPage).toBe(false);
    if (edges.length === catalogue.length) continue;
    expect(unavailableSources).toMatchObject([{ source: 'CATALOGUE', code: 'UPSTREAM_UNAVAILABLE' }]);
    lacking++;
  }
  expect(lacking).toBeGreaterThan(0);
});

describe('a list that is read shortly after a feed has delivered', () => {
  it('shows what upstream lists now, where that is another solution', async () => {
    await fc.assert(
      fc.asyncProperty(
        quakes,
        fc.array(fc.record({ which: fc.nat(), byS: fc.integer({ min: -7200, max: 7200 }) }), {
          maxLength: 8,
        }),
        fc.record({ projectPage: fc.constantFrom(5, 20), cataloguePage: fc.constantFrom(7, 30) }),
        fc.constantFrom('ORIGIN_TIME_DESC' as const, 'ORIGIN_TIME_ASC' as const),
        async ({ project, catalogue }, moves, pages, orderBy) => {
          const world = new EventWorld(project, catalogue, { ...pages, takesIn: true });
          world.deliverAll();
          await world.clock.advance(1_000);
          for (const { which, byS } of moves) {
            for (const kind of ['reissued', 'moved'] as const)
              happen(world, { kind, which, byS, agoS: 0, isDelivered: false }, new Set(), new Set());
            await world.clock.advance(1_000);
          }
          const slice = await listEvents(world.context(), { orderBy, first: 100 });
          fc.pre(slice.unavailableSources.length === 0);
          const shown = slice.edges.map(({ node }) => [
            node.projectEventId,
            node.catalogueEventId,
            node.solution.originTime.ms,
          ]);
          const expected = mergedWorld(world.project, world.catalogue).map((event) => [
            event.project?.id ?? null,
            event.catalogue?.id ?? null,
            event.originMs,
          ]);
          if (orderBy === 'ORIGIN_TIME_DESC') expected.reverse();
          expect(shown).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});

type Happening = {
  kind: 'new' | 'late' | 'reissued' | 'catalogued' | 'moved';
  which: number;
  byS: number;
  agoS: number;
  isDelivered: boolean;
};

function happen(
  world: EventWorld,
  { kind, which, byS, agoS, isDelivered }: Happening,
  touched: Set<string>,
  moved: Set<string>,
): void {
  const nowMs = world.clock.wallMs();
  const place = { latitude: 5, longitude: 5, depthKm: 1, magnitude: 2 };
  const id = `n${world.project.length + world.catalogue.length}`;
  if (kind === 'new' || kind === 'late') {
    const originMs = nowMs - (kind === 'new' ? Math.min(agoS, 60) : agoS) * 1000;
    const quake = { id, originMs, issuedMs: nowMs, ...place, origins: [] };
    world.project.push(quake);
    if (isDelivered) world.deliverProject(quake);
    touched.add(String(originMs));
  } else if (kind === 'catalogued') {
    const originMs = nowMs - agoS * 1000;
    const quake = { id, originMs, ...place, networkId: null };
    world.catalogue.push(quake);
    if (isDelivered) world.deliverCatalogue(quake);
    touched.add(String(originMs));
  } else if (kind === 'moved') {
    const quake = world.catalogue[which % Math.max(1, world.catalogue.length)];
    if (!quake) return;
    moved.add(quake.id);
    touched.add(String(quake.originMs));
    quake.originMs = Math.min(nowMs, quake.originMs + byS * 1000);
    touched.add(String(quake.originMs));
    if (isDelivered) world.deliverCatalogue(quake);
  } else {
    const quake = world.project[which % Math.max(1, world.project.length)];
    if (!quake || quake.issuedMs === nowMs) return;
    touched.add(String(quake.originMs));
    quake.origins.push({ originMs: quake.originMs, issuedMs: quake.issuedMs });
    quake.originMs = Math.min(nowMs, quake.originMs + byS * 1000);
    quake.issuedMs = nowMs;
    if (isDelivered) world.deliverProject(quake);
    touched.add(String(quake.originMs));
  }
}

/** Within reach of what happened: who belongs to whom may have changed. */
function isNear(originMs: number, touched: ReadonlySet<string>): boolean {
  return [...touched].some((ms) => Math.abs(Number(ms) - originMs) <= 300_000);
}

/** Whether a record is the event's own, or could at some time have been taken for its partner. */
function isOf(event: Merged, world: EventWorld, { p, c }: Delivered): boolean {
  if ((p !== null && p === event.project?.id) || (c !== null && c === event.catalogue?.id)) return true;
  const own = [
    ...timesIn(world.project, event.project?.id),
    ...timesIn(world.catalogue, event.catalogue?.id),
  ];
  const delivered = [...timesIn(world.project, p), ...timesIn(world.catalogue, c)];
  return delivered.some((ms) => own.some((ownMs) => Math.abs(ownMs - ms) <= 16_000));
}

/** All the times that a record has had. */
function timesIn(
  records: readonly (ProjectQuake | CatalogueQuake)[],
  id: string | null | undefined,
): number[] {
  const record = records.find((known) => known.id === id);
  if (!record) return [];
  const former = 'origins' in record ? record.origins.map(({ originMs }) => originMs) : [];
  return [record.originMs, ...former];
}

function expectOnce(ids: readonly (string | null)[]): void {
  const known = ids.filter((id) => id !== null);
  expect(known.filter((id, index) => known.indexOf(id) !== index)).toEqual([]);
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../src/clock.js';
import { QueryTooComplex } from '../../src/errors.js';
import type { EventFilter } from '../../src/unify/event/filter.js';
import { rivalsIssuedWithinMs } from '../../src/unify/event/list/filter-pushdown.js';
import { listEvents } from '../../src/unify/event/list/list.js';
import { matches, mergedWorld } from './event-reference.js';
import { at, type CatalogueQuake, EventWorld, type ProjectQuake, quakesApart } from './event-world.js';

const nowMs = Date.UTC(2026, 2, 8);

const choices = fc.record({
  projectPage: fc.constantFrom(5, 20, 500),
  cataloguePage: fc.constantFrom(7, 30, 100),
  inclusive: fc.boolean(),
  order: fc.constantFrom('none' as const, 'newest' as const, 'oldest' as const),
  seed: fc.integer(),
  takesIn: fc.boolean(),
});

const order = fc.constantFrom('ORIGIN_TIME_DESC' as const, 'ORIGIN_TIME_ASC' as const);

const times = fc.oneof(
  fc.integer({ min: 0, max: 900 }).map((s) => nowMs - s * 1000),
  fc.integer({ min: 0, max: 31 * 86_400 }).map((s) => nowMs - s * 1000),
);

// Most lists have few conditions: with many, nothing would be left.
const optional = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 5 }, { arbitrary, weight: 1 });

const filters: fc.Arbitrary<EventFilter> = fc
  .record({
    range: optional(fc.tuple(times, times)),
    issued: optional(fc.tuple(times, times)),
    magnitude: optional(fc.tuple(fc.constantFrom(-0.3, 0, 2.9, 3), fc.constantFrom(3, 3.1, 6))),
    depth: optional(fc.tuple(fc.constantFrom(0, 8.5), fc.constantFrom(8.5, 400))),
    boundingBox: optional(
      fc.constantFrom(
        { minLongitude: -1, minLatitude: -1, maxLongitude: 0.5, maxLatitude: 0.5 },
        { minLongitude: 175, minLatitude: -5, maxLongitude: -175, maxLatitude: 20 },
      ),
    ),
    within: optional(
      fc.constantFrom(
        { latitude: 0, longitude: 0, radiusKm: 60 },
        { latitude: -90, longitude: 0, radiusKm: 200 },
        { latitude: 0, longitude: 180, radiusKm: 100 },
      ),
    ),
    networkId: optional(fc.constantFrom('n1')),
    source: optional(fc.constantFrom('PROJECT' as const, 'CATALOGUE' as const)),
  })
  .map(({ range, issued, magnitude, depth, ...rest }) => {
    const [from, to] = range?.toSorted((a, b) => a - b) ?? [];
    const [issuedFrom, issuedTo] = issued?.toSorted((a, b) => a - b) ?? [];
    return {
      ...rest,
      ...(from !== undefined && to !== undefined && { from: at(from), to: at(to) }),
      ...(issuedFrom !== undefined &&
        issuedTo !== undefined && { issuedFrom: at(issuedFrom), issuedTo: at(issuedTo) }),
      ...(magnitude && { minMagnitude: magnitude[0], maxMagnitude: magnitude[1] }),
      ...(depth && { minDepthKm: depth[0], maxDepthKm: depth[1] }),
    };
  });

interface PagesRead {
  readonly keys: string[];
  readonly complaints: string[];
}

/** Every page of a list, first to last, each on a gateway that remembers nothing. */
async function readAllPages(
  world: EventWorld,
  args: { filter: EventFilter; orderBy: 'ORIGIN_TIME_DESC' | 'ORIGIN_TIME_ASC'; sizes: readonly number[] },
): Promise<PagesRead> {
  const keys: string[] = [];
  const complaints: string[] = [];
  let after: string | null = null;
  for (let page = 0; page < 300; page++) {
    const slice: Awaited<ReturnType<typeof listEvents>> | null = await listEvents(
      world.context(world.tenant()),
      {
        filter: args.filter,
        orderBy: args.orderBy,
        first: args.sizes[page % args.sizes.length] ?? 10,
        after,
      },
    ).catch((error) => {
      if (!(error instanceof QueryTooComplex)) throw error;
      return null;
    });
    if (!slice) return { keys, complaints: ['too much for short pages'] };
    keys.push(...slice.edges.map(({ node }) => node.key));
    complaints.push(...slice.unavailableSources.map(({ message }) => message));
    if (!slice.pageInfo.hasNextPage) return { keys, complaints };
    after = slice.pageInfo.endCursor;
    expect(after).not.toBeNull();
  }
  throw new Error('the pages do not end');
}

/** Every page of a list, last to first, each on a gateway that remembers nothing; in the order of the list. */
async function readBack(
  world: EventWorld,
  args: { filter: EventFilter; orderBy: 'ORIGIN_TIME_DESC' | 'ORIGIN_TIME_ASC'; sizes: readonly number[] },
): Promise<PagesRead> {
  const keys: string[] = [];
  const complaints: string[] = [];
  let before: string | null = null;
  for (let page = 0; page < 300; page++) {
    const { filter, orderBy, sizes } = args;
    const last = sizes[page % sizes.length] ?? 10;
    const slice: Awaited<ReturnType<typeof listEvents>> | null = await listEvents(
      world.context(world.tenant()),
      { filter, orderBy, last, before },
    ).catch((error) => {
      if (!(error instanceof QueryTooComplex)) throw error;
      return null;
    });
    if (!slice) return { keys, complaints: ['too much for short pages'] };
    keys.unshift(...slice.edges.map(({ node }) => node.key));
    complaints.push(...slice.unavailableSources.map(({ message }) => message));
    expect(slice.pageInfo.hasNextPage).toBe(before !== null);
    if (!slice.pageInfo.hasPreviousPage) return { keys, complaints };
    before = slice.pageInfo.startCursor;
    expect(before).not.toBeNull();
  }
  throw new Error('the pages do not end');
}

describe('the list of events', () => {
  it('is the same from its end, and from before and after any edge of either direction', async () => {
    await fc.assert(
      fc.asyncProperty(
        quakesApart([0, 16_000, 500, -500_000, 880_000]),
        choices,
        order,
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        async ({ project, catalogue }, options, orderBy, sizes, which) => {
          const world = new EventWorld(project, catalogue, options);
          world.deliverAll();
          const forward = await readAllPages(world, { filter: {}, orderBy, sizes });
          const back = await readBack(world, { filter: {}, orderBy, sizes });
          fc.pre(forward.complaints.length + back.complaints.length === 0);
          expect(back.keys).toEqual(forward.keys);

          const { keys } = forward;
          const read = async (args: object) => {
            const slice = await listEvents(world.context(world.tenant()), { orderBy, ...args });
            fc.pre(slice.unavailableSources.length === 0);
            return slice;
          };
          const size = sizes[0] ?? 10;
          for (const from of [{ first: size }, { last: size }]) {
            const { edges } = await read(from);
            const edge = edges[which % Math.max(1, edges.length)];
            if (!edge) continue;
            const index = keys.indexOf(edge.node.key);
            const before = await read({ last: size, before: edge.cursor });
            const after = await read({ first: size, after: edge.cursor });
            const keysOf = ({ edges: list }: typeof before) => list.map(({ node }) => node.key);
            // A page can be short of `last` and `first`, where more would take too many requests.
            fc.pre([...before.edges, ...after.edges].length > 0 || keys.length === 1);
            expect(keysOf(before)).toEqual(keys.slice(index - before.edges.length, index));
            expect(keysOf(after)).toEqual(keys.slice(index + 1, index + 1 + after.edges.length));
            expect(before.pageInfo.hasPreviousPage || before.edges.length === index).toBe(true);
            expect(after.pageInfo.hasNextPage || after.edges.length === keys.length - index - 1).toBe(true);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is what comparing everything with everything gives, in pages of any size and either order', async () => {
    await fc.assert(
      fc.asyncProperty(
        // Up to a quarter of an hour, equal ids are one earthquake.
        quakesApart([0, 16_000, 500, -500_000, 880_000]),
        choices,
        order,
        filters,
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(0, 300 * 86_400_000),
        async ({ project, catalogue }, options, orderBy, filter, sizes, quietMs) => {
          // With short pages the interfaces would be asked to select, which is exact only as far as is assumed.
          const isSelected = [filter.minMagnitude, filter.networkId].some((value) => value !== undefined);
          const pages = isSelected ? { projectPage: 500, cataloguePage: 100 } : {};
          const world = new EventWorld(project, catalogue, { ...options, ...pages });
          world.deliverAll();
          await world.clock.advance(quietMs);
          const { keys, complaints } = await readAllPages(world, { filter, orderBy, sizes });
          fc.pre(complaints.length === 0);
          const listOf = (records: readonly ProjectQuake[]) => {
            const keysOf = mergedWorld(records, catalogue).flatMap((event) =>
              matches(filter, event) ? [event.key] : [],
            );
            return orderBy === 'ORIGIN_TIME_DESC' ? keysOf.reverse() : keysOf;
          };
          const expected = listOf(project);
          // What was issued long before or after the filter's range is assumed to decide on no event of the list.
          const leastMs = (filter.issuedFrom?.ms ?? -Infinity) - rivalsIssuedWithinMs;
          const mostMs = (filter.issuedTo?.ms ?? Infinity) + rivalsIssuedWithinMs;
          const near = project.filter(({ issuedMs }) => issuedMs >= leastMs && issuedMs <= mostMs);
          fc.pre(JSON.stringify(listOf(near)) === JSON.stringify(expected));
          expect(keys).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('associates an event with the record that is its own, though its rival was issued before the range of the filter', async () => {
    const world = new EventWorld(
      [
        { ...quake('early', 0), issuedMs: nowMs - 30_000 },
        { ...quake('late', 1_000), issuedMs: nowMs - 10_000 },
        { ...quake('west', 0), longitude: -0.8, issuedMs: nowMs - 10_000 },
        // The first page ends before the range does.
        { ...quake('elsewhere', 0), latitude: 10, issuedMs: nowMs - 16_000 },
      ],
      // Without its rival, `late` would take over this time and come after `west`.
      [quake('c0', 0), { ...quake('c1', 0), longitude: -0.8 }],
      { projectPage: 3 },
    );
    for (const orderBy of ['ORIGIN_TIME_DESC', 'ORIGIN_TIME_ASC'] as const) {
      const filter = { issuedFrom: at(nowMs - 15_000), issuedTo: at(nowMs - 5_000) };
      const { keys } = await readAllPages(world, { filter, orderBy, sizes: [1] });
      const inOrder = ['p:late', 'p:west'];
      expect(keys).toEqual(orderBy === 'ORIGIN_TIME_DESC' ? inOrder : inOrder.reverse());
    }
  });

  it('leaves iterations of the event loop to others while many lists of hundreds are merged', async () => {
    const project = oneAMinute(400);
    const catalogue = project.map((quake) => ({ ...quake, id: `c${quake.id}`, networkId: 'n1' }));
    const world = new EventWorld(project, catalogue, { caches: true });
    const read = () => listEvents(world.context(), { orderBy: 'ORIGIN_TIME_DESC', first: 400 });
    await read();
    let iterations = 0;
    let counting = setImmediate(function count() {
      iterations++;
      counting = setImmediate(count);
    });
    const lists = await Promise.all(Array.from({ length: 20 }, read));
    clearImmediate(counting);
    expect(lists.map(({ edges }) => edges.length)).toEqual(Array(20).fill(400));
    expect(iterations).toBeGreaterThan(10);
  });

  it.each([
    ['for a day longer', dayMs],
    ['for a day less', -dayMs],
  ])(
    'goes on at a machine that has run %s, from answers of its own where they are new enough',
    async (_, moreMs) => {
      const project = oneAMinute(40);
      const [here, there] = [0, 1].map(() => new EventWorld(project, [], { projectPage: 5, caches: true }));
      if (!here || !there) throw new Error('two machines');
      // As long as each has run, the date is the same.
      const older = moreMs > 0 ? there : here;
      await older.clock.advance(dayMs);
      older.clock.stepWall(-dayMs);
      const page = (world: EventWorld, after: string | null = null) =>
        listEvents(world.context(), { orderBy: 'ORIGIN_TIME_DESC', first: 10, after });
      const first = await page(here);
      await there.clock.advance(1_000);
      await page(there, first.pageInfo.endCursor);
      const asked = there.requests.project;
      await page(there, first.pageInfo.endCursor);
      expect(there.requests.project).toBe(asked);
      // The list is begun anew, later than the answers that the other machine still has.
      await here.clock.advance(4_000);
      const again = await listEvents(here.context(here.tenant()), { orderBy: 'ORIGIN_TIME_DESC', first: 10 });
      await page(there, again.pageInfo.endCursor);
      expect(there.requests.project).toBeGreaterThan(asked);
    },
  );
});

function quake(id: string, afterMs: number): ProjectQuake & CatalogueQuake {
  const originMs = nowMs - 60_000 + afterMs;
  const place = { latitude: 0, longitude: 0, depthKm: null };
  return { id, originMs, issuedMs: originMs, ...place, magnitude: null, networkId: null, origins: [] };
}

function oneAMinute(count: number) {
  return Array.from({ length: count }, (_, number) => ({
    id: `e${number}`,
    originMs: nowMs - number * 60_000,
    issuedMs: nowMs - number * 60_000 + 30_000,
    latitude: 0,
    longitude: number / 10,
    depthKm: 10,
    magnitude: 3,
    origins: [],
  }));
}

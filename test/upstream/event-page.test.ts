import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CataloguePage, EventQuery as CatalogueQuery } from '../../src/upstream/catalogue/client.js';
import { withDelivered as withCatalogueEvents } from '../../src/upstream/catalogue/event-page.js';
import { eventShape as catalogueShape } from '../../src/upstream/catalogue/wire.js';
import type { EventQuery } from '../../src/upstream/project/client.js';
import { withDelivered } from '../../src/upstream/project/event-page.js';
import { eventShape } from '../../src/upstream/project/wire.js';
import type { Page } from '../../src/upstream/read/read.js';
import { forward } from '../support/moments.js';

interface Quake {
  readonly id: string;
  /** Of issue in the project, of origin in the catalogue. */
  readonly second: number;
  readonly magnitude: number;
}

const timeOf = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
const second = fc.integer({ min: 0, max: 20 });
const quakes = fc
  .uniqueArray(second, { maxLength: 10 })
  .map((seconds) => seconds.map((at, index): Quake => ({ id: `q${index}`, second: at, magnitude: 1 })));
/** New solutions, of new events and of some that were there before; of each second there is one. */
const changes = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 30 })), { maxLength: 4 })
  .map((list) =>
    list.map(
      ([which, at], index): Quake => ({
        id: `q${which}`,
        second: at + 0.5 + index / 100,
        magnitude: 2 + index,
      }),
    ),
  );
const bound = fc.option(second, { nil: undefined });

function changed(before: readonly Quake[], newer: readonly Quake[]): Quake[] {
  const after = new Map(before.map((quake) => [quake.id, quake]));
  for (const quake of newer) after.set(quake.id, quake);
  return [...after.values()];
}

describe('a page that is given what a feed has delivered', () => {
  it('of the project is what upstream has now, as far as the page reaches', () => {
    const projectEvent = ({ id, second: at, magnitude }: Quake) =>
      eventShape.parse({ id, issued_at: timeOf(at), magnitude });
    fc.assert(
      fc.property(
        quakes,
        changes,
        fc.record({
          order: fc.constantFrom('asc' as const, 'desc' as const),
          limit: fc.integer({ min: 1, max: 6 }),
          offset: fc.constantFrom(0, 0, 2),
          from: bound,
          to: bound,
        }),
        (before, all, { order, limit, offset, from, to }) => {
          // Of an event the latest solution is the one delivered last.
          const newer = all.filter(
            ({ id, second: at }, index) =>
              ![...before, ...all.slice(0, index)].some((other) => other.id === id && other.second >= at),
          );
          const sign = order === 'asc' ? 1 : -1;
          const listOf = (world: readonly Quake[]) =>
            world
              .filter(({ second: at }) => at >= (from ?? -Infinity) && at <= (to ?? Infinity))
              .sort((a, b) => sign * (a.second - b.second));
          const listed = listOf(before);
          const items = listed.slice(offset, offset + limit);
          const page: Page<ReturnType<typeof projectEvent>> = {
            items: items.map(projectEvent),
            total: listed.length,
            received: items.length,
          };
          const query: EventQuery = {
            order,
            limit,
            offset,
            ...(from !== undefined && { from: timeOf(from) }),
            ...(to !== undefined && { to: timeOf(to) }),
          };
          const delivered = newer.map((quake, index) => ({
            value: projectEvent(quake),
            readAtMs: forward(2 + index),
          }));
          const taken = withDelivered({ value: page, readAtMs: forward(1) }, query, delivered);
          // In the page's range, which is open at the ends of the list.
          const isBegun = offset === 0;
          const isEnded = offset + items.length >= listed.length;
          const expected = listOf(changed(before, newer)).filter(
            ({ second: at }) =>
              (isBegun || sign * (at - (items[0]?.second ?? -sign * Infinity)) >= 0) &&
              (isEnded || sign * (at - (items.at(-1)?.second ?? 0)) <= 0),
          );
          fc.pre(items.length > 0 || offset === 0);
          expect(taken?.items.map(({ id, magnitude }) => [id, magnitude])).toEqual(
            expected.map(({ id, magnitude }) => [id, magnitude]),
          );
          expect([taken?.total, taken?.received]).toEqual([page.total, page.received]);
          for (const { value, readAtMs } of delivered)
            if (taken?.items.includes(value)) expect(taken.readLater?.get(value)).toBe(readAtMs);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('of the catalogue is what upstream has now, where the page is all of the list', () => {
    const catalogueEvent = ({ id, second: at, magnitude }: Quake) =>
      catalogueShape.parse({ id, origin_time: timeOf(at), magnitude });
    fc.assert(
      fc.property(
        quakes,
        changes,
        bound,
        bound,
        fc.integer({ min: 1, max: 10 }),
        (before, newer, start, end, limit) => {
          const listOf = (world: readonly Quake[]) =>
            world.filter(({ second: at }) => at >= (start ?? -Infinity) && at <= (end ?? Infinity));
          const listed = listOf(before);
          const items = listed.slice(0, limit).map(catalogueEvent);
          const page: CataloguePage<(typeof items)[number]> = {
            items,
            total: listed.length,
            received: items.length,
            limit,
          };
          const query: CatalogueQuery = {
            page: 1,
            limit,
            ...(start !== undefined && { start: timeOf(start) }),
            ...(end !== undefined && { end: timeOf(end) }),
          };
          const delivered = newer.map((quake, index) => ({
            value: catalogueEvent(quake),
            readAtMs: forward(2 + index),
          }));
          const taken = withCatalogueEvents({ value: page, readAtMs: forward(1) }, query, delivered);
          if (listed.length > limit) {
            expect(taken).toBeNull();
            return;
          }
          const shown = (list: readonly { id: string; magnitude: unknown }[] | undefined) =>
            list?.map(({ id, magnitude }) => `${id} ${magnitude}`).sort();
          expect(shown(taken?.items)).toEqual(shown(listOf(changed(before, newer))));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('keeps the later of two solutions, and the one that was read later where the times are equal', () => {
    const event = (at: number, magnitude: number) =>
      eventShape.parse({ id: 'e', issued_at: timeOf(at), magnitude });
    const page = (value: ReturnType<typeof event>) => ({
      value: { items: [value], total: 1, received: 1 },
      readAtMs: forward(2),
    });
    const query: EventQuery = { order: 'desc', limit: 5, offset: 0 };
    const shown = (
      listed: ReturnType<typeof event>,
      read: { value: ReturnType<typeof event>; readAtMs: ReturnType<typeof forward> },
    ) => withDelivered(page(listed), query, [read])?.items.map(({ magnitude }) => magnitude);
    expect(shown(event(1, 1), { value: event(2, 2), readAtMs: forward(1) })).toEqual([2]);
    expect(shown(event(2, 1), { value: event(1, 2), readAtMs: forward(3) })).toEqual([1]);
    expect(shown(event(1, 1), { value: event(1, 2), readAtMs: forward(1) })).toEqual([1]);
    expect(shown(event(1, 1), { value: event(1, 2), readAtMs: forward(3) })).toEqual([2]);
  });
});

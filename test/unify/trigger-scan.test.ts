import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Instant } from '../../src/unify/time/instant.js';
import { floorMs } from '../../src/unify/time/millisecond.js';
import {
  decodePosition,
  encodePosition,
  type TriggerPosition,
} from '../../src/unify/trigger/list/position.js';
import { scanTriggers, type TriggerScan } from '../../src/unify/trigger/list/scan.js';
import type { TriggerQuery } from '../../src/upstream/project/client.js';
import { tooWide } from '../../src/upstream/project/range-step.js';
import { triggerShape, type WireTrigger } from '../../src/upstream/project/wire.js';
import type { Page, Read } from '../../src/upstream/read/read.js';
import { forward } from '../support/moments.js';

/** Upstream's list as docs/interfaces.md P4 tells it, over records that a test adds to. Ties are in an order of its own. */
class Upstream {
  readonly records: WireTrigger[] = [];
  readonly queries: TriggerQuery[] = [];
  readonly #tieOrder = new Map<string, number>();
  /** A page never has more, whatever was asked for. */
  largestPage = 500;

  add(startTime: string, fields: Partial<Record<keyof WireTrigger, unknown>> = {}): string {
    const id = this.records.length + 1;
    this.records.push(
      triggerShape.parse({
        id,
        device_id: 'A0B1C2D3E4F5',
        start_time: startTime,
        status: 'closed',
        ...fields,
      }),
    );
    this.#tieOrder.set(String(id), (id * 7919) % 104_729);
    return String(id);
  }

  readonly read = (query: TriggerQuery): Promise<Read<Page<WireTrigger>>> => {
    expect(query.limit).toBeGreaterThanOrEqual(1);
    expect(query.limit).toBeLessThanOrEqual(500);
    this.queries.push(query);
    const sign = query.order === 'asc' ? 1 : -1;
    // By the millisecond, as a service that keeps times as a Date would compare them.
    const ms = (text: string) => Date.parse(text);
    const matching = this.records
      .filter(({ start_time }) => query.from === undefined || ms(start_time) >= ms(query.from))
      .filter(({ start_time }) => query.to === undefined || ms(start_time) <= ms(query.to))
      .sort(
        (a, b) =>
          sign * (ms(a.start_time) - ms(b.start_time)) ||
          (this.#tieOrder.get(a.id) ?? 0) - (this.#tieOrder.get(b.id) ?? 0),
      );
    const size = Math.min(query.limit, this.largestPage);
    const items = matching.slice(query.offset, query.offset + size);
    return Promise.resolve({
      value: { items, total: matching.length, received: items.length },
      readAtMs: forward(0),
    });
  };
}

function scanOf(upstream: Upstream, parts: Partial<TriggerScan> = {}): TriggerScan {
  return { read: upstream.read, order: 'desc', after: null, wanted: 100, mostRequests: 10, ...parts };
}

/** Every page of a scan, each cursor sent as JSON and back; `between` runs between two pages. */
async function readAll(given: TriggerScan, between: () => void = () => {}): Promise<string[]> {
  const ids: string[] = [];
  let { after } = given;
  const isOpposite = given.isOpposite === true;
  for (let pages = 0; pages < 1000; pages++) {
    const page = await scanTriggers({
      ...given,
      after: after && isOpposite ? { ...after, isOpposite } : after,
    });
    ids.push(...page.triggers.map(({ trigger }) => trigger.triggerId));
    expect(page.triggers.length).toBeLessThanOrEqual(given.wanted);
    if (!page.more) return ids;
    expect(page.reached !== null || page.triggers.length === given.wanted).toBe(true);
    const next = page.reached ?? page.triggers.at(-1)?.position ?? null;
    after = decodePosition(JSON.parse(JSON.stringify(next && encodePosition(next))));
    between();
  }
  throw new Error('the pages do not end');
}

const base = Date.UTC(2026, 2, 8);
// Few seconds and few digits, so that equal and almost equal times are common.
const startTimes = fc
  .tuple(
    fc.integer({ min: 0, max: 6 }),
    fc.constantFrom(1000, 1_800_000),
    fc.constantFrom('', '.5', '.500', '.5001', '.50017', '.123456', '.999999999'),
  )
  .map(
    ([steps, stepMs, digits]) => `${new Date(base + steps * stepMs).toISOString().slice(0, 19)}${digits}Z`,
  );
// So many at few moments that pages end within one.
const crowded = fc.array(
  fc.oneof(
    startTimes,
    fc.integer({ min: 0, max: 4 }).map((steps) => new Date(base + steps * 1000).toISOString()),
  ),
  { maxLength: 60, size: 'max' },
);
const orders = fc.constantFrom('asc' as const, 'desc' as const);

function inStartOrder(upstream: Upstream, ids: readonly string[], order: 'asc' | 'desc'): boolean {
  const times = ids.map((id) => Instant.parse(upstream.records[Number(id) - 1]?.start_time ?? ''));
  const sign = order === 'asc' ? 1 : -1;
  return times.every((time, index) => {
    const before = times[index - 1];
    // Within a millisecond upstream's order is not shown, and a page may end there.
    return !time || !before || sign * (floorMs(time) - floorMs(before)) >= 0;
  });
}

describe('paging through the triggers', () => {
  it('has before each of its cursors, read backward, all that came before it, whatever arrives meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        crowded,
        fc.array(fc.array(startTimes, { maxLength: 4 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(),
        orders,
        async (initial, arrivals, wanted, wantedBack, at, order) => {
          const upstream = new Upstream();
          for (const time of initial) upstream.add(time);
          const placed: { id: string; position: TriggerPosition }[] = [];
          const given = scanOf(upstream, { wanted, order, mostRequests: 50 });
          for (let after: TriggerPosition | null = null, more = true; more; ) {
            const page = await scanTriggers({ ...given, after });
            placed.push(
              ...page.triggers.map(({ trigger, position }) => ({ id: trigger.triggerId, position })),
            );
            after = page.reached ?? placed.at(-1)?.position ?? null;
            more = page.more;
          }
          const index = at % (placed.length + 1);
          const start = placed[index];
          const waiting = [...arrivals];
          const backward = scanOf(upstream, { wanted: wantedBack, mostRequests: 50, isOpposite: true });
          const ids = await readAll(
            { ...backward, order: order === 'asc' ? 'desc' : 'asc', after: start?.position ?? null },
            () => {
              for (const time of waiting.shift() ?? []) upstream.add(time);
            },
          );
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.filter((id) => Number(id) <= initial.length).sort()).toEqual(
            placed
              .slice(0, index)
              .map(({ id }) => id)
              .sort(),
          );
          expect(inStartOrder(upstream, ids.toReversed(), order)).toBe(true);
        },
      ),
      {
        numRuns: 300,
        // More of one moment than a cursor names, the first of them in upstream's order and the others by their ids.
        examples: [
          [Array.from({ length: 15 }, () => '2026-03-08T00:00:00Z'), [], 2, 1, 2, 'asc'],
          // Digits below the millisecond that sort triggers before one which was delivered beside.
          [
            [
              '2026-03-08T00:00:00.5001Z',
              '2026-03-08T00:00:00.999999999Z',
              '2026-03-08T00:00:00.999999999Z',
              '2026-03-08T00:00:00.50017Z',
              '2026-03-08T00:00:00.000Z',
              '2026-03-08T00:00:01.000Z',
              '2026-03-08T00:00:00.5Z',
              '2026-03-08T00:00:01Z',
              '2026-03-08T00:00:01.000Z',
              '2026-03-08T00:00:01.000Z',
              '2026-03-08T00:00:00.50017Z',
              '2026-03-08T00:00:01Z',
              '2026-03-08T00:00:00.5Z',
              '2026-03-08T00:00:01.000Z',
              '2026-03-08T00:00:00.5001Z',
            ],
            [],
            1,
            1,
            1708034684,
            'desc',
          ],
        ],
      },
    );
  });

  it('has each that existed when it began once and in order, whatever arrives between its pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(startTimes, { maxLength: 60 }),
        fc.array(fc.array(startTimes, { maxLength: 4 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 12 }),
        orders,
        async (initial, arrivals, wanted, order) => {
          const upstream = new Upstream();
          const atStart = initial.map((time) => upstream.add(time));
          const waiting = [...arrivals];
          const ids = await readAll(scanOf(upstream, { wanted, order, mostRequests: 50 }), () => {
            for (const time of waiting.shift() ?? []) upstream.add(time);
          });
          expect(new Set(ids).size).toBe(ids.length);
          expect(atStart.filter((id) => !ids.includes(id))).toEqual([]);
          expect(inStartOrder(upstream, ids, order)).toBe(true);
        },
      ),
      {
        numRuns: 300,
        // A page that ends within a millisecond of which upstream has yet to show a member with more digits.
        examples: [
          [
            [
              '2026-03-08T00:00:04.500Z',
              ...Array.from({ length: 5 }, () => '2026-03-08T00:30:00Z'),
              '2026-03-08T00:00:04.500Z',
              '2026-03-08T00:00:04.50017Z',
            ],
            [],
            1,
            'desc',
          ],
        ],
      },
    );
  });

  it('reads a page backward by itself, though the same response was read forward', async () => {
    const upstream = new Upstream();
    for (let count = 0; count < 5; count++) upstream.add('2026-03-08T00:00:00Z');
    const pages = new Map<string, ReturnType<TriggerScan['read']>>();
    const read: TriggerScan['read'] = (query) => {
      const key = JSON.stringify(query);
      const page = pages.get(key) ?? upstream.read(query);
      pages.set(key, page);
      return page;
    };
    const scan = scanOf(upstream, { read, order: 'asc', wanted: 2 });
    const forward = await scanTriggers(scan);
    expect(forward.triggers.map(({ position }) => position.id)).toEqual([null, null]);
    const backward = await scanTriggers({ ...scan, isOpposite: true });
    expect(backward.triggers.map(({ position }) => position.id)).toEqual(['1', '2']);
  });

  it('keeps to both ends of a range to the last digit and to a filter of its own', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(startTimes, fc.boolean()), { maxLength: 50 }),
        startTimes,
        startTimes,
        fc.integer({ min: 1, max: 9 }),
        orders,
        fc.boolean(),
        fc.constantFrom(3, 8, 500),
        async (records, one, other, wanted, order, filtered, largestPage) => {
          const upstream = new Upstream();
          upstream.largestPage = largestPage;
          for (const [time, open] of records) upstream.add(time, { status: open ? 'open' : 'closed' });
          const [a, b] = [Instant.parse(one), Instant.parse(other)];
          if (!a || !b) throw new Error('not a time');
          const [from, to] = a.compare(b) <= 0 ? [a, b] : [b, a];
          const keep = filtered ? (trigger: { status: string }) => trigger.status === 'OPEN' : undefined;
          const ids = await readAll(scanOf(upstream, { wanted, order, from, to, keep, mostRequests: 50 }));
          const expected = upstream.records.filter(({ start_time, status }) => {
            const time = Instant.parse(start_time);
            return (
              time && time.compare(from) >= 0 && time.compare(to) <= 0 && (!filtered || status === 'open')
            );
          });
          expect(new Set(ids)).toEqual(new Set(expected.map(({ id }) => id)));
          expect(ids).toHaveLength(expected.length);
          expect(inStartOrder(upstream, ids, order)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps what it has found when upstream takes too long over what lies behind', async () => {
    for (const order of ['asc', 'desc'] as const) {
      const upstream = new Upstream();
      const ids = Array.from({ length: 30 }, (_, index) =>
        upstream.add(new Date(base + index * 60_000).toISOString()),
      );
      // Further on there is a stretch of which nothing comes.
      const read: TriggerScan['read'] = async (query) => {
        if (upstream.queries.length > 0) throw tooWide();
        const page = await upstream.read(query);
        return { ...page, value: { ...page.value, total: null, goesOn: true } };
      };
      const given = scanOf(upstream, { order, read });
      const { triggers, more, reached } = await scanTriggers(given);
      expect(triggers.map(({ trigger }) => trigger.triggerId)).toEqual(order === 'asc' ? ids : ids.reverse());
      expect({ more, reached }).toEqual({ more: true, reached: triggers.at(-1)?.position });
      await expect(scanTriggers({ ...given, after: reached })).rejects.toMatchObject({
        code: 'UPSTREAM_TIMEOUT',
      });
    }
  });
});

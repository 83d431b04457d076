import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asId } from '../../src/upstream/decode/fields.js';
import type { TriggerQuery } from '../../src/upstream/project/client.js';
import { withDelivered } from '../../src/upstream/project/trigger-page.js';
import type { WireTrigger } from '../../src/upstream/project/wire.js';
import type { Page } from '../../src/upstream/read/read.js';
import { forward } from '../support/moments.js';

import { aWireTrigger } from '../support/wire-trigger.js';

const timeOf = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
const devices = ['001A2B3C4D5E', '001A2B3C4D5F'];

function trigger(id: number, second: number, isOpen: boolean, pga = 1): WireTrigger {
  return aWireTrigger({
    id: asId(String(id)),
    device_id: asId(devices[id % 2] ?? ''),
    station: 'TEST',
    start_time: timeOf(second),
    pga_horizontal_mg: pga,
    status: isOpen ? 'open' : 'closed',
  });
}

/** As upstream answers. */
function pageOf(all: readonly WireTrigger[], query: TriggerQuery): Page<WireTrigger> {
  const sign = query.order === 'asc' ? 1 : -1;
  const matching = all
    .filter(({ start_time }) => !query.from || start_time >= query.from)
    .filter(({ start_time }) => !query.to || start_time <= query.to)
    .filter(({ device_id }) => !query.deviceId || device_id === query.deviceId)
    .sort(
      (a, b) => sign * (Date.parse(a.start_time) - Date.parse(b.start_time) || Number(a.id) - Number(b.id)),
    );
  const items = matching.slice(query.offset, query.offset + query.limit);
  return { items, total: matching.length, received: items.length };
}

const second = fc.integer({ min: 0, max: 12 });
const query: fc.Arbitrary<TriggerQuery> = fc
  .record({
    order: fc.constantFrom('asc' as const, 'desc' as const),
    limit: fc.integer({ min: 1, max: 6 }),
    offset: fc.constantFrom(0, 0, 0, 2),
    from: fc.option(second, { nil: undefined }),
    to: fc.option(second, { nil: undefined }),
    deviceId: fc.option(fc.constantFrom(...devices.map((device) => asId<'device'>(device))), {
      nil: undefined,
    }),
  })
  .map(({ from, to, ...rest }) => ({
    ...rest,
    from: from === undefined ? undefined : timeOf(from),
    to: to === undefined ? undefined : timeOf(to),
  }));

it('gives the page that upstream would give, or none', () => {
  let count = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(second, fc.boolean()), { maxLength: 8 }),
      fc.array(fc.tuple(second, fc.boolean()), { maxLength: 4 }),
      fc.array(fc.tuple(fc.nat({ max: 7 }), fc.boolean()), { maxLength: 3 }),
      query,
      (before, added, changed, asked) => {
        const world = before.map(([at, isOpen], id) => trigger(id, at, isOpen));
        const page = { value: pageOf(world, asked), readAtMs: forward(1) };
        const changes = added.map(([at, isOpen], index) => trigger(100 + index, at, isOpen));
        for (const [index, isOpen] of changed) {
          const one = world[index];
          if (one?.status !== 'open') continue;
          const { id, start_time } = one;
          const at = (Date.parse(start_time) - Date.parse(timeOf(0))) / 1_000;
          world[index] = trigger(Number(id), at, isOpen, Number(one.pga_horizontal_mg) + 1);
          changes.push(world[index]);
        }
        const delivered = changes.map((value, index) => ({ value, readAtMs: forward(2 + index) }));
        const taken = withDelivered(page, asked, delivered);
        if (taken === null) return;
        count++;
        const now = pageOf([...world, ...changes.filter(({ id }) => Number(id) >= 100)], asked);
        expect([taken.total, taken.received]).toEqual([now.total, now.received]);
        // Upstream's order within one moment is its own.
        const times = (items: readonly WireTrigger[]) => items.map(({ start_time }) => start_time);
        expect(times(taken.items)).toEqual(times(now.items));
        const last = now.items.at(-1)?.start_time;
        const inside = (items: readonly WireTrigger[]) =>
          items
            .filter(({ start_time }) => now.items.length === now.total || start_time !== last)
            .map(({ id, status, pga_horizontal_mg }) => `${id} ${status} ${pga_horizontal_mg}`)
            .sort();
        expect(inside(taken.items)).toEqual(inside(now.items));
      },
    ),
    { numRuns: 2_000 },
  );
  expect(count).toBeGreaterThan(800);
});

it('keeps what is closed on the page, and does not choose between two open states of one time', () => {
  const asked: TriggerQuery = { order: 'desc', limit: 5, offset: 0 };
  const page = (isOpen: boolean) => ({
    value: pageOf([trigger(1, 0, isOpen, 3)], asked),
    readAtMs: forward(5),
  });
  const update = { value: trigger(1, 0, true, 2), readAtMs: forward(5) };
  expect(withDelivered(page(false), asked, [update])?.items).toEqual([trigger(1, 0, false, 3)]);
  expect(withDelivered(page(true), asked, [update])).toBeNull();
  const ends = { value: trigger(1, 0, false, 4), readAtMs: forward(4) };
  expect(withDelivered(page(true), asked, [ends])?.items).toEqual([ends.value]);
});

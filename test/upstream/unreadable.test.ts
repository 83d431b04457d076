import { describe, expect, it } from 'vitest';
import { realClock } from '../../src/clock.js';
import { Instant } from '../../src/unify/time/instant.js';
import { triggersOf } from '../../src/unify/trigger/record.js';
import type { WireTrigger } from '../../src/upstream/project/wire.js';
import { forward } from '../support/moments.js';
import { failureOf, projectAt, scopeOf, startTiny } from './harness.js';

const page = { order: 'asc', limit: 5, offset: 0 } as const;

async function projectWith(data: readonly unknown[]) {
  const tiny = await startTiny((_, response) => response.end(JSON.stringify({ data, total: data.length })));
  return { tiny, client: projectAt(tiny.url, realClock) };
}

const trigger = (start_time: unknown) => ({ id: 1, device_id: 'A', start_time });
const event = (origin: unknown, issued_at: unknown = '2026-01-01T12:00:00Z') => ({
  id: 'e',
  issued_at,
  origin,
});

describe('records that cannot be placed', () => {
  it.each([
    ['basic form', '20260101T120000.5Z'],
    ['basic form with an offset', '20260101T130000.5+01'],
    ['Unix milliseconds', 1_767_268_800_500],
    ['Unix seconds as text', '1767268800.5'],
  ])('reads a start time in %s', async (_, start) => {
    const { tiny, client } = await projectWith([trigger(start)]);
    await using _tiny = tiny;
    await using project = client;
    const [first] = (await project.triggers(page, scopeOf())).value.items;
    expect(Instant.parse(first?.start_time ?? '')?.ms).toBe(Date.UTC(2026, 0, 1, 12, 0, 0, 500));
  });

  it.each([
    ['Unix milliseconds', 1_767_268_800_500],
    ['text', '2026-01-01T12:00:00.5Z'],
  ])('reads an origin time in %s', async (_, time) => {
    const { tiny, client } = await projectWith([event({ origin_time: time, latitude: 1, longitude: 2 })]);
    await using _tiny = tiny;
    await using project = client;
    const [first] = (await project.events(page, scopeOf())).value.items;
    expect(first?.origin?.origin_time).toBe(1_767_268_800.5);
  });

  it('reads numbers that are given as text', async () => {
    const { tiny, client } = await projectWith([
      { ...event({ origin_time: '1767268800.5', latitude: '1.5', longitude: '-2e1' }), magnitude: ' 4.2 ' },
    ]);
    await using _tiny = tiny;
    await using project = client;
    const [first] = (await project.events(page, scopeOf())).value.items;
    expect([first?.magnitude, first?.origin?.latitude, first?.origin?.longitude]).toEqual([4.2, 1.5, -20]);
  });

  it('takes an empty issue time for a missing one', async () => {
    const origin = { origin_time: 1_767_268_800, latitude: 1, longitude: 2 };
    const { tiny, client } = await projectWith([event(origin, '')]);
    await using _tiny = tiny;
    await using project = client;
    expect((await project.events(page, scopeOf())).value.items).toHaveLength(1);
  });

  it('keeps the triggers of a page beside one that came past the decoder', () => {
    const wire = (start_time: string) =>
      ({ ...trigger(start_time), id: start_time }) as unknown as WireTrigger;
    const items = [wire('noon'), wire('2026-01-01T12:00:00Z')];
    const triggers = triggersOf({ value: { items, total: 2, received: 2 }, readAtMs: forward(0) });
    expect(triggers.map(({ triggerId }) => triggerId)).toEqual(['2026-01-01T12:00:00Z']);
  });

  it.each(['1767268800', '1767268800500', '12'])('no client may write a time as the number %s', (text) => {
    expect(Instant.parseInput(text)).toBeNull();
  });

  it('refuses a page of triggers or events of which none can be read', async () => {
    const { tiny, client } = await projectWith([{ ...trigger('noon'), ...event({ origin_time: 'noon' }) }]);
    await using _tiny = tiny;
    await using project = client;
    expect((await failureOf(project.triggers(page, scopeOf()))).code).toBe('UPSTREAM_UNAVAILABLE');
    expect((await failureOf(project.events(page, scopeOf()))).code).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('drops and counts one of them, and keeps an event that is not located yet', async () => {
    const { tiny, client } = await projectWith([event({ origin_time: {} }), event('here'), event(null)]);
    await using _tiny = tiny;
    await using project = client;
    const { items, received } = (await project.events(page, scopeOf())).value;
    expect([items.length, received]).toEqual([1, 3]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { asId } from '../../src/upstream/decode/fields.js';
import type { TriggerQuery } from '../../src/upstream/project/client.js';
import { driving, failureOf, projectAt, scopeOf, startTiny } from './harness.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const clock = new ManualClock(Date.UTC(2026, 5, 1));
const at = (agoMs: number) => new Date(clock.wallMs() - agoMs).toISOString();

interface Record {
  readonly id: string;
  readonly atMs: number;
}

interface Asked {
  readonly widthMs: number;
  readonly limit: number;
}

/** An upstream with one list, in time, that gives up on what is too much for it. */
async function startSlow(
  records: readonly Record[],
  failing: (asked: Asked) => boolean | 'timeout' | 'internal_error' | null,
) {
  const asked: string[] = [];
  const gaveUpOn = new Set<string>();
  const tiny = await startTiny((request, response) => {
    const url = new URL(request.url ?? '', 'http://tiny');
    const query = url.searchParams;
    asked.push(request.url ?? '');
    const health = url.pathname.endsWith('/soh');
    const toMs = Date.parse(query.get('to') ?? new Date(clock.wallMs()).toISOString());
    const fromMs = Date.parse(query.get('from') ?? (health ? new Date(toMs - dayMs).toISOString() : '1970'));
    const limit = Number(query.get('limit') ?? 100);
    response.setHeader('content-type', 'application/json');
    const failure = failing({ widthMs: toMs - fromMs, limit });
    if (failure === 'internal_error') {
      response.writeHead(500).end('{"error":{"code":"internal_error","message":"A fault"}}');
      return;
    }
    if (failure) {
      gaveUpOn.add(request.url ?? '');
      response.writeHead(503).end('{"error":{"code":"timeout","message":"The query ran too long"}}');
      return;
    }
    const found = records
      .filter(({ atMs }) => (health ? atMs > fromMs : atMs >= fromMs) && atMs <= toMs)
      .sort((a, b) => a.atMs - b.atMs || a.id.localeCompare(b.id));
    if (query.get('order') === 'desc') found.reverse();
    const offset = Number(query.get('offset') ?? 0);
    const page = found.slice(offset, offset + limit);
    const data = page.map(({ id, atMs }) => {
      const start_time = new Date(atMs).toISOString();
      return { id, device_id: id, start_time, timestamp: start_time, status: 'closed' };
    });
    const next_from = page.length < found.length ? data.at(-1)?.timestamp : null;
    response.end(JSON.stringify({ data, total: found.length, limit, offset, next_from }));
  });
  const client = projectAt(tiny.url, clock);
  return {
    client,
    asked,
    gaveUpOn,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await tiny[Symbol.asyncDispose]();
    },
  };
}

const everyHour = (count: number): Record[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${index}`, atMs: clock.wallMs() - index * hourMs }));

describe('a list that upstream takes too long over', () => {
  it('is read in shorter ranges, and no request is sent twice', async () => {
    await using slow = await startSlow(everyHour(24 * 80), ({ widthMs }) => widthMs > 30 * dayMs);
    const query = { from: at(80 * dayMs), to: at(0), order: 'desc' as const, limit: 500, offset: 0 };
    const { value } = await slow.client.triggers(query, scopeOf());
    expect(value.items.map(({ id }) => id)).toEqual(everyHour(500).map(({ id }) => id));
    expect(value.received).toBe(500);
    expect(new Set(slow.asked).size).toBe(slow.asked.length);
  });

  it('says nothing of how another one is to be asked', async () => {
    let isSlow = true;
    await using slow = await startSlow(everyHour(100), () => isSlow);
    const query = { order: 'desc' as const, limit: 50, offset: 0 };
    await failureOf(slow.client.triggers({ ...query, deviceId: asId('A') }, scopeOf()));
    isSlow = false;
    const before = slow.asked.length;
    const { value } = await slow.client.triggers({ ...query, deviceId: asId('B') }, scopeOf());
    expect(value.items).toHaveLength(50);
    expect(slow.asked.length - before).toBe(1);
  });

  it('without a beginning is followed back until the page is full', async () => {
    await using slow = await startSlow(everyHour(24 * 80), ({ widthMs }) => widthMs > 40 * dayMs);
    const query = { order: 'desc' as const, limit: 200, offset: 50 };
    const { value } = await slow.client.triggers(query, scopeOf());
    expect(value.items.map(({ id }) => id)).toEqual(
      everyHour(250)
        .slice(50)
        .map(({ id }) => id),
    );
  });

  it('whose records lie together is handed over where they end, with word that it goes on', async () => {
    await using slow = await startSlow(everyHour(60), ({ widthMs }) => widthMs > 30 * dayMs);
    const query = { from: at(700 * dayMs), order: 'desc' as const, limit: 500, offset: 0 };
    const scope = scopeOf();
    const { value } = await slow.client.triggers(query, scope);
    expect(value.items.map(({ id }) => id)).toEqual(everyHour(60).map(({ id }) => id));
    expect(value).toMatchObject({ received: 60, total: null, goesOn: true });
    expect(slow.asked.length).toBeLessThanOrEqual(6);
    // The next page of the same operation does not find out again what is too wide.
    await slow.client.triggers({ ...query, to: at(20 * hourMs) }, scope);
    expect(slow.asked.filter((url) => slow.gaveUpOn.has(url))).toHaveLength(slow.gaveUpOn.size);
    expect(slow.gaveUpOn.size).toBe(3);
  });

  it('costs one operation no more than a dozen requests that find next to nothing', async () => {
    await using slow = await startSlow(everyHour(60), ({ widthMs }) => widthMs > 30 * dayMs);
    const scope = scopeOf();
    const query = { from: at(2000 * dayMs), order: 'desc' as const, limit: 500, offset: 0 };
    await slow.client.triggers(query, scope);
    const before = slow.asked.length;
    // As a scan continues, pinned to the last record that it has.
    const behind = { ...query, to: at(59 * hourMs) };
    const { value } = await slow.client.triggers(behind, scope);
    expect(value).toMatchObject({ received: 1, goesOn: true });
    const error = await failureOf(slow.client.triggers({ ...behind, offset: 1 }, scope));
    expect(error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(slow.asked.length - before).toBeLessThanOrEqual(12);
    // What is short enough is answered all the same.
    const { value: newer } = await slow.client.triggers({ ...query, from: at(2 * hourMs) }, scope);
    expect(newer.items).toHaveLength(3);
  });

  it('is handed over as far as it was read when the interface fails in the middle of it', async () => {
    let answers = 0;
    await using slow = await startSlow(everyHour(24 * 80), ({ widthMs }) =>
      widthMs > 30 * dayMs ? 'timeout' : ++answers > 2 ? 'internal_error' : null,
    );
    const query = { from: at(80 * dayMs), to: at(0), order: 'desc' as const, limit: 500, offset: 0 };
    const { value } = await driving(clock, slow.client.triggers(query, scopeOf()));
    expect(value.items.map(({ id }) => id)).toEqual(everyHour(value.received).map(({ id }) => id));
    expect(value).toMatchObject({ goesOn: true });
    expect(value.received).toBeGreaterThan(0);
  });

  it('without a range is read in smaller pages', async () => {
    await using slow = await startSlow(everyHour(300), ({ limit }) => limit > 60);
    const { value } = await slow.client.sensors({ limit: 150, offset: 20 }, scopeOf());
    expect(value).toMatchObject({ received: 150, total: 300 });
    expect(new Set(value.items.map(({ device_id }) => device_id)).size).toBe(150);
    expect(new Set(slow.asked).size).toBe(slow.asked.length);
  });

  it('in whatever pieces is given up after a dozen requests, saying that the range is too wide', async () => {
    await using slow = await startSlow(everyHour(10), () => true);
    const query = { from: at(300 * dayMs), to: at(0), order: 'desc' as const, limit: 100, offset: 0 };
    const error = await failureOf(slow.client.triggers(query, scopeOf()));
    expect(error).toMatchObject({ code: 'UPSTREAM_TIMEOUT', upstream: { status: 503, code: 'timeout' } });
    expect(error.message).toMatch(/range/);
    expect(slow.asked.length).toBeLessThanOrEqual(12);
    expect(new Set(slow.asked).size).toBe(slow.asked.length);
    const endless = await failureOf(
      slow.client.triggers({ order: 'desc', limit: 100, offset: 0 }, scopeOf()),
    );
    expect(endless.code).toBe('UPSTREAM_TIMEOUT');
  });

  it('comes out as if it had been answered at once, whatever is asked for and however it is cut', async () => {
    const records = fc.array(fc.record({ id: fc.uuid(), atMs: fc.integer({ min: -20 * dayMs, max: 0 }) }), {
      maxLength: 60,
    });
    const query = fc.record({
      fromAgo: fc.integer({ min: 0, max: 25 }),
      toAgo: fc.integer({ min: 0, max: 25 }),
      order: fc.constantFrom<'asc' | 'desc'>('asc', 'desc'),
      limit: fc.integer({ min: 1, max: 80 }),
      offset: fc.integer({ min: 0, max: 70 }),
    });
    await fc.assert(
      fc.asyncProperty(records, query, fc.integer({ min: 2, max: 20 }), async (drawn, ask, widestDays) => {
        const all = drawn.map(({ id, atMs }) => ({ id, atMs: clock.wallMs() + atMs }));
        await using slow = await startSlow(all, ({ widthMs }) => widthMs > widestDays * dayMs);
        await using quick = await startSlow(all, () => false);
        const asked: TriggerQuery = {
          from: at(Math.max(ask.fromAgo, ask.toAgo) * dayMs),
          to: at(Math.min(ask.fromAgo, ask.toAgo) * dayMs),
          order: ask.order,
          limit: ask.limit,
          offset: ask.offset,
        };
        const whole = await quick.client.triggers(asked, scopeOf());
        const pieced = await slow.client.triggers(asked, scopeOf()).catch((error: unknown) => {
          // Given up, but not before a dozen requests that found nothing.
          expect(error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
          expect(slow.asked).toHaveLength(12);
        });
        expect(new Set(slow.asked).size).toBe(slow.asked.length);
        if (!pieced) return;
        const { items, received, total, goesOn } = pieced.value;
        expect(items).toEqual(whole.value.items.slice(0, items.length));
        expect([null, whole.value.total]).toContain(total);
        if (goesOn) expect(received).toBeGreaterThan(0);
        else expect(received).toBe(whole.value.received);
      }),
      { numRuns: 40 },
    );
  });
});

describe('health reports that upstream takes too long over', () => {
  it('are read from a shorter range, and go on where it ended', async () => {
    const records = everyHour(7 * 24);
    await using slow = await startSlow(records, ({ widthMs }) => widthMs > 2 * dayMs);
    const to = at(0);
    const seen: string[] = [];
    for (let from: string | undefined = at(6 * dayMs); from !== undefined; ) {
      const page = await slow.client.healthReports(asId('A'), { from, to }, scopeOf());
      seen.push(...(page?.value.reports ?? []).map(({ timestamp }) => timestamp));
      from = page?.value.nextFrom ?? undefined;
    }
    const expected = records.filter(({ atMs }) => atMs > clock.wallMs() - 6 * dayMs).map(({ atMs }) => atMs);
    expect(seen).toEqual(expected.sort((a, b) => a - b).map((ms) => new Date(ms).toISOString()));
    expect(new Set(slow.asked).size).toBe(slow.asked.length);
  });

  it('of the day before are asked for from an explicit beginning', async () => {
    await using slow = await startSlow(everyHour(48), ({ widthMs }) => widthMs > 12 * hourMs);
    const page = await slow.client.healthReports(asId('A'), {}, scopeOf());
    expect(page?.value.reports[0]?.timestamp).toBe(new Date(clock.wallMs() - 23 * hourMs).toISOString());
    expect(page?.value.nextFrom).not.toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import { Tenant, UnifyContext } from '../../src/unify/context.js';
import { SensorListing } from '../../src/unify/sensor/inventory/listing.js';
import { createDerivedCache } from '../../src/upstream/cache/derived-cache.js';
import { createResponseCache } from '../../src/upstream/cache/response-cache.js';
import { newCostMeter } from '../../src/upstream/read/read.js';

interface Row {
  readonly id: string;
  readonly name: string;
}

/** A listing of so many rows of 1 kB, on a cache of this size. */
function listingOf(rowCount: number, maxBytes: number) {
  const clock = new ManualClock();
  const cache = createResponseCache({ maxBytes });
  const derived = createDerivedCache(cache.part('derived'), clock);
  const rows = Array.from(
    { length: rowCount },
    (_, index): Row => ({ id: `${index}`, name: 'x'.repeat(1000) }),
  );
  let requests = 0;
  const listing = new SensorListing<Row>({
    source: {
      pageSize: 100,
      read: async (index) => {
        requests++;
        const items = rows.slice(index * 100, (index + 1) * 100);
        const value = { items, total: rows.length, received: items.length };
        return { value, readAtMs: clock.now(), appliedSize: 100 };
      },
      idOf: ({ id }) => id,
    },
    clock,
    signal: new AbortController().signal,
    rateLimit: () => ({ perMinute: 60, burst: 20, remaining: 20, remainingToday: null, resetAtMs: null }),
    mayServeCached: () => true,
    derivedCache: derived,
  });
  const tenant = new Tenant({
    project: null,
    catalogue: null,
    clock,
    log: createLog({ level: 'error', secrets: [], write: () => {} }),
    signal: new AbortController().signal,
  });
  const read = async () => {
    const scope = {
      signal: tenant.signal,
      priority: 'query' as const,
      operationKey: {},
      meter: newCostMeter(),
    };
    return (await listing.read(new UnifyContext(tenant, scope))).records.size;
  };
  return { read, cache, derived, clock, requests: () => requests };
}

describe('the list of all sensors', () => {
  it('is cached under the bound of all responses, and counts there', async () => {
    const { read, cache, requests } = listingOf(1000, 64 * 1024 * 1024);
    expect(await read()).toBe(1000);
    expect(cache.bytes).toBeGreaterThan(1000 * 1000);
    expect(await read()).toBe(1000);
    expect(requests()).toBe(10);
  });

  it('of so many pages that the budget does not allow for more is served past five lifetimes', async () => {
    // Twenty pages at 60 a minute, a quarter of which it may take: every 80 seconds.
    const { read, clock, requests } = listingOf(2000, 64 * 1024 * 1024);
    await read();
    await clock.advance(79_000);
    await read();
    expect(requests()).toBe(20);
    await clock.advance(2_000);
    await read();
    await read();
    expect(requests()).toBe(40);
  });

  it('goes when other things need its place, and is read again when it is asked for', async () => {
    const { read, cache, derived, requests } = listingOf(1000, 4 * 1024 * 1024);
    await read();
    for (const name of ['a', 'b', 'c', 'd']) derived.put(name, {}, 1024 * 1024);
    expect(cache.bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(await read()).toBe(1000);
    expect(requests()).toBe(20);
  });

  it('that is larger than the bound permits is given, and not cached', async () => {
    const { read, cache } = listingOf(1000, 1024 * 1024);
    expect(await read()).toBe(1000);
    expect(cache.bytes).toBe(0);
  });
});

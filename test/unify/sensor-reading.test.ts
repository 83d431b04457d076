import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock, plus } from '../../src/clock.js';
import { UpstreamRateLimited, UpstreamUnavailable } from '../../src/errors.js';
import type { PageSource } from '../../src/unify/sensor/inventory/pages.js';
import { Reading } from '../../src/unify/sensor/inventory/reading.js';
import { newCostMeter, type ReadScope } from '../../src/upstream/read/read.js';
import { forward } from '../support/moments.js';

const scopeOf = (signal = new AbortController().signal): ReadScope => ({
  signal,
  priority: 'query',
  operationKey: {},
  meter: newCostMeter(),
});

const never = () => false;
const always = () => true;

/** A list of numbers in order, cut into pages; `between` may change it before each page is given. */
function listOf(rows: number[], between: (read: number, rows: number[]) => void = () => {}, most = 3) {
  let reads = 0;
  const asked: ReadScope[] = [];
  const source: PageSource<number> = {
    pageSize: 4,
    read: async (index, _size, scope) => {
      asked.push(scope);
      between(reads++, rows);
      const items = rows.slice(index * most, (index + 1) * most);
      return {
        value: { items, total: rows.length, received: items.length },
        readAtMs: forward(0),
        appliedSize: most,
      };
    },
    idOf: String,
  };
  return { source, asked };
}

function readingOf(source: PageSource<number>, clock = new ManualClock(), behind = false) {
  const owner = new AbortController();
  return new Reading(source, clock, { signal: owner.signal, maxAgeMs: 10_000, behind });
}

const found = (reading: Reading<number>) => [...reading.records.keys()].map(Number).sort((a, b) => a - b);

describe('a list that is read page by page', () => {
  it('has all rows that were there all the time, when others are added or taken away meanwhile', async () => {
    const change = fc.record({
      atRead: fc.integer({ min: 0, max: 12 }),
      row: fc.integer({ min: 0, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 20 }),
        fc.array(change, { maxLength: 4 }),
        fc.boolean(),
        async (start, changes, adds) => {
          const rows = [...start].sort((a, b) => a - b);
          const gone = new Set<number>();
          const { source } = listOf(rows, (read, list) => {
            for (const { atRead, row } of changes) {
              if (atRead !== read) continue;
              const at = list.indexOf(row);
              if (adds && at < 0) list.push(row);
              if (!adds && at >= 0) {
                list.splice(at, 1);
                gone.add(row);
              }
              list.sort((a, b) => a - b);
            }
          });
          const reading = readingOf(source);
          await reading.run();
          if (!reading.complete) return;
          const records = new Set(found(reading));
          for (const row of start) if (!gone.has(row)) expect(records).toContain(row);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('forgets a row that was taken away while it was read', async () => {
    const { source } = listOf([1, 2, 3, 4, 5, 6, 7], (read, rows) => read === 1 && rows.shift());
    const reading = readingOf(source);
    await reading.run();
    expect(reading.complete).toBe(true);
    expect(found(reading)).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it('is as old as the oldest page, also when another process has read that', async () => {
    const clock = new ManualClock();
    const { source } = listOf([1, 2, 3, 4]);
    const cached: PageSource<number> = {
      ...source,
      read: async (index, ...more) => ({
        ...(await source.read(index, ...more)),
        readAtMs: plus(clock.now(), -index * 7_000),
      }),
    };
    const reading = readingOf(cached, clock);
    await reading.run();
    expect(clock.now() - reading.readAtMs).toBe(7_000);
  });

  it('is not taken for whole when its pages repeat each other', async () => {
    const { source } = listOf(Array.from({ length: 40 }, (_, row) => row));
    const stuck = {
      ...source,
      read: (_: number, size: number, scope: ReadScope) => source.read(0, size, scope),
    };
    const reading = readingOf(stuck);
    await reading.run();
    expect(reading.complete).toBe(false);
    expect(reading.failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(found(reading)).toEqual([0, 1, 2]);
  });
});

describe('a list of an interface that pages in its own way', () => {
  const rows = Array.from({ length: 10 }, (_, row) => row);
  const answer = (items: number[], total: number | null) => ({
    value: { items, total, received: items.length },
    ...{ readAtMs: forward(0), appliedSize: 4 },
  });

  it('is read to its end without a total', async () => {
    const { source } = listOf([...rows], undefined, 4);
    const silent: PageSource<number> = {
      ...source,
      read: async (...page) => answer([...(await source.read(...page)).value.items], null),
    };
    const reading = readingOf(silent);
    await reading.run();
    expect(reading.complete).toBe(true);
    expect(found(reading)).toEqual(rows);
  });

  it('ends when pages are ignored: with a total at once, without one when nothing new comes', async () => {
    for (const [total, pages] of [
      [10, 1],
      [null, 6],
    ] as const) {
      let reads = 0;
      const all: PageSource<number> = {
        ...{ pageSize: 4, idOf: String },
        read: async () => {
          reads++;
          return answer(rows, total);
        },
      };
      const reading = readingOf(all);
      await reading.run();
      expect(reading.complete).toBe(true);
      expect(found(reading)).toEqual(rows);
      expect(reads).toBe(pages);
    }
  });

  it('has what the pages gave that could be read when one cannot', async () => {
    const { source } = listOf([...rows]);
    const broken: PageSource<number> = {
      ...source,
      read: (index, ...more) => {
        if (index === 2) throw new UpstreamUnavailable('broken');
        return source.read(index, ...more);
      },
    };
    const reading = readingOf(broken);
    await reading.run();
    expect(reading.failure).toMatchObject({ message: 'broken' });
    expect(await reading.wait(scopeOf(), never, always)).toBe('failed');
    expect(found(reading)).toEqual([0, 1, 2, 3, 4, 5, 9]);
  });
});

describe('those who wait for a list', () => {
  it('are let go as soon as they have what they need, and the rest is read behind', async () => {
    const { source, asked } = listOf(Array.from({ length: 100 }, (_, row) => row));
    const reading = readingOf(source);
    const waiting = reading.wait(scopeOf(), ({ records }) => records.has('1'), always);
    const running = reading.run();
    expect(await waiting).toBe('enough');
    await running;
    expect(reading.complete).toBe(true);
    expect(asked[0]?.priority).toBe('query');
    expect(asked.at(-1)?.priority).toBe('background');
  });

  it('end it when they leave and nobody else waits', async () => {
    const leaving = new AbortController();
    const { source, asked } = listOf(
      Array.from({ length: 100 }, (_, row) => row),
      (read) => read === 3 && leaving.abort(),
    );
    const reading = readingOf(source);
    const waiting = reading.wait(scopeOf(leaving.signal), never, always);
    const running = reading.run();
    await expect(waiting).rejects.toThrow();
    await running;
    expect(reading.complete).toBe(false);
    expect(asked.length).toBeLessThan(20);
  });

  it('pay for what is read while they wait', async () => {
    const { source, asked } = listOf([1, 2, 3, 4]);
    const scope = scopeOf();
    const reading = readingOf(source);
    const waiting = reading.wait(scope, never, always);
    await reading.run();
    await waiting;
    expect(asked.map(({ meter }) => meter === scope.meter)).toEqual([true, true]);
  });

  it('make what the background is waiting for as urgent as they are', async () => {
    const { source, asked } = listOf([1, 2, 3, 4, 5, 6, 7]);
    const reading = readingOf(source, undefined, true);
    const running = reading.run();
    await reading.wait(scopeOf(), never, always);
    await running;
    expect(asked.map(({ priority }) => priority)).toEqual(['background', 'query', 'query', 'query']);
  });
});

describe('a list that the budget cannot pay at once', () => {
  it('lets go who waits, with what there is, and is read to its end behind', async () => {
    const clock = new ManualClock();
    let isSpent = true;
    const { source, asked } = listOf([1, 2, 3, 4, 5, 6, 7], (read) => {
      if (read > 0 && isSpent) throw new UpstreamRateLimited('Spent', { retryAfterS: 30 });
    });
    const reading = readingOf(source, clock);
    const waiting = reading.wait(scopeOf(), never, always);
    const running = reading.run();
    expect(await waiting).toBe('stalled');
    expect(found(reading)).toEqual([1, 2, 3]);
    expect(reading.failure).toMatchObject({ code: 'UPSTREAM_RATE_LIMITED', retryAfterS: 30 });
    expect(await reading.wait(scopeOf(), never, always)).toBe('stalled');
    isSpent = false;
    await clock.advance(30_000);
    await running;
    expect(reading.complete).toBe(true);
    expect(reading.failure).toBeNull();
    expect(asked.at(-1)?.priority).toBe('background');
  });

  it('is given up when it would take longer than ten minutes', async () => {
    const { source } = listOf([1], () => {
      throw new UpstreamRateLimited('The day is spent', { retryAfterS: 3600 });
    });
    const reading = readingOf(source);
    await reading.run();
    expect(await reading.wait(scopeOf(), never, always)).toBe('failed');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plus, type UnixMs } from '../../src/clock.js';
import { QueryTooComplex, UpstreamUnavailable } from '../../src/errors.js';
import {
  type BackwardHealthScan,
  scanHealthReportsBackward,
} from '../../src/unify/health/list/backward-scan.js';
import { type HealthScan, type ScannedReports, scanHealthReports } from '../../src/unify/health/list/scan.js';
import { windowEndMs } from '../../src/unify/health/list/windows.js';
import { Instant } from '../../src/unify/time/instant.js';
import type { HealthQuery } from '../../src/upstream/project/client.js';
import { healthReportShape, type WireHealthPage } from '../../src/upstream/project/wire.js';
import type { Read } from '../../src/upstream/read/read.js';
import { date, forward } from '../support/moments.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const nowMs = date(Date.UTC(2026, 2, 8, 12, 0, 7));
const readAtMs = forward(0);

/** Health reports as docs/interfaces.md P4 tells of them, over `timestamps`; a page never ends between equal ones. */
class Upstream {
  readonly queries: HealthQuery[] = [];
  readonly #timestamps: readonly Instant[];
  /** Queries over a longer range run too long. */

  constructor(timestamps: readonly string[]) {
    this.#timestamps = timestamps.map(instant).sort((a, b) => a.compare(b));
  }

  readonly read = (query: HealthQuery): Promise<Read<WireHealthPage>> => {
    this.queries.push(query);
    const to = query.to === undefined ? Instant.fromMs(nowMs) : instant(query.to);
    const from = query.from === undefined ? to.plusMs(-dayMs) : instant(query.from);
    const limit = query.limit ?? 1000;
    // What upstream would refuse with 400.
    expect(to.ms - from.ms).toBeLessThanOrEqual(7 * dayMs);
    expect(from.compare(to)).toBeLessThanOrEqual(0);
    expect(limit).toBeGreaterThanOrEqual(1);
    expect(limit).toBeLessThanOrEqual(5000);
    const matching = this.#timestamps.filter((time) => time.compare(from) > 0 && time.compare(to) <= 0);
    const lastTime = matching[limit - 1];
    const page = lastTime ? matching.filter((time) => time.compare(lastTime) <= 0) : matching;
    const reports = page.map((time) => healthReportShape.parse({ timestamp: time.toString() }));
    const nextFrom = page.length < matching.length ? (page.at(-1)?.toString() ?? null) : null;
    return Promise.resolve({ value: { reports, nextFrom }, readAtMs });
  };
}

function instant(text: string): Instant {
  const parsed = Instant.parseInput(text);
  if (!parsed) throw new Error(`not a time: ${text}`);
  return parsed;
}

const text = (ms: number) => Instant.fromMs(date(ms)).toString();

type ScanOptions = Partial<Omit<HealthScan, 'after' | 'onlyLast'>>;

/** Every page of a list, read by `scanPage` from the end of the page before. */
async function pagesOf(
  upstream: Upstream,
  given: ScanOptions,
  scanPage: (scan: BackwardHealthScan) => Promise<ScannedReports | null>,
): Promise<string[]> {
  const timestamps: string[] = [];
  const scan = { read: upstream.read, from: null, to: null, nowMs, wanted: 100, mostRequests: 20, ...given };
  let before: BackwardHealthScan['before'] = null;
  for (let pages = 0; pages < 2000; pages++) {
    const page = await scanPage({ ...scan, before });
    if (!page) throw new Error('the sensor is not there');
    timestamps.push(...page.reports.map(({ report }) => report.timestamp.toString()));
    if (!page.more) return timestamps;
    before = page.reached ?? page.reports.at(-1)?.position ?? null;
  }
  throw new Error('the pages do not end');
}

const readAll = (upstream: Upstream, given: ScanOptions) =>
  pagesOf(upstream, given, ({ before, ...scan }) => scanHealthReports({ ...scan, after: before }));
const readAllBackward = (upstream: Upstream, given: ScanOptions) =>
  pagesOf(upstream, given, scanHealthReportsBackward);

// Around the present and in the weeks before, on whole hours and between, so that windows often meet on a report.
const offsets = fc.oneof(
  fc.integer({ min: -50, max: 2 }).map((halfDays) => halfDays * 12 * hourMs),
  fc.integer({ min: -40 * dayMs, max: 0 }),
);
const timestamps = fc
  .tuple(offsets, fc.constantFrom('', '123', '999'))
  .map(
    ([offset, digits]) => `${text(Math.floor((nowMs + offset) / hourMs) * hourMs).slice(0, -1)}${digits}Z`,
  );

describe('paging through health reports', () => {
  it('has each report of any range once and in order, at any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(timestamps, { maxLength: 60 }),
        offsets,
        offsets,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        async (reports, one, other, wanted, mostRequests) => {
          const [from, to] = [one, other].sort((a, b) => a - b).map((offset) => text(nowMs + offset));
          if (!from || !to) throw new Error('no range');
          const upstream = new Upstream(reports);
          const listed = await readAll(upstream, {
            from: instant(from),
            to: instant(to),
            wanted,
            mostRequests,
          });
          const expected = reports
            .map(instant)
            .filter((time) => time.compare(instant(from)) > 0 && time.compare(instant(to)) <= 0)
            .sort((a, b) => a.compare(b))
            .map(String);
          expect(listed).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('has them backward in the opposite order, at any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(timestamps, { maxLength: 60 }),
        fc.option(offsets),
        fc.option(offsets),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 4, max: 20 }),
        async (reports, one, other, wanted, mostRequests) => {
          const [from = null, to = null] =
            one !== null && other !== null
              ? [one, other].sort((a, b) => a - b).map((offset) => instant(text(nowMs + offset)))
              : [one === null ? null : instant(text(nowMs + Math.min(one, 0)))];
          const forward = await readAll(new Upstream(reports), { from, to });
          const backward = await readAllBackward(new Upstream(reports), { from, to, wanted, mostRequests });
          expect(backward).toEqual(forward.toReversed());
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads the latest of many years with one request where the last day has enough', async () => {
    const reports = Array.from({ length: 400 }, (_, index) => text(nowMs - index * 600_000));
    const upstream = new Upstream(reports);
    const scan = { read: upstream.read, from: instant('2000-01-01'), to: null, nowMs, before: null };
    const page = await scanHealthReportsBackward({ ...scan, wanted: 20, mostRequests: 20 });
    expect(page?.reports.map(({ report }) => String(report.timestamp))).toEqual(reports.slice(0, 20));
    expect(upstream.queries).toEqual([{ limit: 5000 }]);
  });

  it('reads shorter windows where reports lie densely, and says when they lie too densely', async () => {
    const reports = Array.from({ length: 40_000 }, (_, index) => text(nowMs - index * 2000));
    const upstream = new Upstream(reports);
    const scan = { read: upstream.read, from: null, to: null, nowMs, before: null, wanted: 20 };
    const page = await scanHealthReportsBackward({ ...scan, mostRequests: 20 });
    expect(page?.reports.map(({ report }) => String(report.timestamp))).toEqual(reports.slice(0, 20));
    await expect(scanHealthReportsBackward({ ...scan, mostRequests: 4 })).rejects.toThrow(QueryTooComplex);
  });

  it('gives the report on the seam of two ranges to the earlier one', async () => {
    const noon = text(nowMs - 7 * hourMs);
    const upstream = new Upstream([text(nowMs - 19 * hourMs), noon, text(nowMs - hourMs)]);
    const [start, seam, end] = [nowMs - 19 * hourMs, nowMs - 7 * hourMs, nowMs - hourMs].map((ms) =>
      instant(text(ms)),
    );
    if (!start || !seam || !end) throw new Error('no range');
    expect(await readAll(upstream, { from: start, to: seam })).toEqual([noon]);
    expect(await readAll(upstream, { from: seam, to: end })).toEqual([text(nowMs - hourMs)]);
  });

  it('has both of two reports of one time behind a window that ended on a report', async () => {
    const [seam, twice] = ['2026-02-23T00:00:00.000Z', '2026-02-26T12:00:00.000Z'];
    const upstream = new Upstream([seam, twice, twice]);
    const [from, to] = ['2026-02-22T12:00:06.999Z', text(nowMs)].map(instant);
    if (!from || !to) throw new Error('no range');
    expect(await readAll(upstream, { from, to, wanted: 2, mostRequests: 2 })).toEqual([seam, twice, twice]);
  });

  it('keeps to both ends of a range to the last digit', async () => {
    const [before, at, after, end, late] = ['.1233', '.1234', '.12341', '.5', '.50001'].map(
      (digits) => `2026-03-08T11:00:00${digits}Z`,
    );
    if (!before || !at || !after || !end || !late) throw new Error('no times');
    const upstream = new Upstream([before, at, after, end, late]);
    expect(await readAll(upstream, { from: instant(at), to: instant(end) })).toEqual(
      [after, end].map((one) => String(instant(one))),
    );
  });

  it('reads 30 days at one report per ten minutes with as few requests as 7 days each allow', async () => {
    const from = nowMs - 30 * dayMs;
    const reports = Array.from({ length: 30 * 144 }, (_, index) => text(from + (index + 1) * 600_000));
    const upstream = new Upstream(reports);
    const listed = await readAll(upstream, {
      from: instant(text(from)),
      to: instant(text(nowMs)),
      wanted: 5000,
    });
    expect(listed).toEqual(reports);
    expect(upstream.queries).toHaveLength(5);
  });

  it('follows next_from with the same end', async () => {
    const reports = Array.from({ length: 12_000 }, (_, index) => text(nowMs - dayMs + (index + 1) * 7000));
    const upstream = new Upstream(reports);
    const to = instant(text(nowMs));
    const page = await scanHealthReports({
      read: upstream.read,
      from: instant(text(nowMs - dayMs)),
      to,
      nowMs,
      after: null,
      wanted: Number.POSITIVE_INFINITY,
      mostRequests: 20,
    });
    expect(page?.reports).toHaveLength(12_000);
    expect(upstream.queries.map((query) => query.to)).toEqual([to, to, to].map(String));
    expect(upstream.queries.map((query) => query.from).slice(1)).toEqual([reports[4999], reports[9999]]);
  });

  it('for the last report alone looks at no more of a page than that, past what has no time', async () => {
    const times = [text(nowMs - 3 * hourMs), text(nowMs - 2 * hourMs), 'noon', text(nowMs + hourMs)];
    const looked: string[] = [];
    const reports = times.map((timestamp) => ({
      ...healthReportShape.parse({ timestamp: times[0] }),
      get timestamp() {
        looked.push(timestamp);
        return timestamp;
      },
    }));
    const given = { from: null, to: instant(text(nowMs)), nowMs, after: null, mostRequests: 20 };
    const page = await scanHealthReports({
      ...given,
      read: () => Promise.resolve({ value: { reports, nextFrom: null }, readAtMs }),
      wanted: Number.POSITIVE_INFINITY,
      onlyLast: true,
    });
    expect(page?.reports.map(({ report }) => String(report.timestamp))).toEqual([times[1]]);
    expect(looked).not.toContain(times[0]);
  });

  it('asks the same question however often the last 24 hours are asked for', async () => {
    const upstream = new Upstream([text(nowMs - 1000)]);
    await readAll(upstream, {});
    await readAll(upstream, { nowMs: plus(nowMs, 777) });
    expect(upstream.queries[0]).toEqual({ from: undefined, to: undefined, limit: 101 });
    expect(upstream.queries[1]).toEqual(upstream.queries[0]);
  });

  it('fails when next_from stands still, rather than asking for ever', async () => {
    const stuck = text(nowMs - hourMs);
    const read = () => Promise.resolve({ value: { reports: [], nextFrom: stuck }, readAtMs });
    const given = scanHealthReports({
      read,
      from: instant(stuck),
      to: null,
      nowMs,
      after: null,
      wanted: 1,
      mostRequests: 20,
    });
    await expect(given).rejects.toBeInstanceOf(UpstreamUnavailable);
  });
});

describe('windows of a long range', () => {
  it('meet, fit into 7 days, and are as few as possible', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: nowMs - 400 * dayMs, max: nowMs }).map(date),
        fc.integer({ min: 1, max: 100 * dayMs }),
        (fromMs, lengthMs) => {
          const toMs = plus(fromMs, lengthMs);
          let windows = 0;
          for (let startMs = fromMs; startMs < toMs; windows++) {
            const endMs = windowEndMs(startMs, toMs);
            expect(endMs).toBeGreaterThan(startMs);
            expect(endMs - startMs).toBeLessThanOrEqual(7 * dayMs);
            startMs = endMs;
          }
          expect(windows).toBe(Math.ceil(lengthMs / (7 * dayMs)));
        },
      ),
    );
  });

  it('are shared by ranges that end at different times', () => {
    const ends = (fromMs: UnixMs, toMs: UnixMs) => {
      const all: UnixMs[] = [];
      for (let startMs = fromMs; startMs < toMs; startMs = all.at(-1) ?? toMs)
        all.push(windowEndMs(startMs, toMs));
      return all.slice(0, -1);
    };
    const anHourLater = ends(plus(nowMs, -30 * dayMs + hourMs), plus(nowMs, hourMs));
    expect(ends(plus(nowMs, -30 * dayMs), nowMs)).toEqual(anHourLater);
  });
});

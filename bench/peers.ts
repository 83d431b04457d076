import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { startHelper } from './child.js';
import { connections, upstreamLatencyMs } from './comparison/conditions.js';
import { type Bench, drive, type Entrant, enter } from './comparison/entrants.js';
import { type Expiries, expiriesOf } from './comparison/expiries.js';
import type { LoadOrder, LoadReport } from './comparison/load.js';
import { bodyOf, operations } from './comparison/operations.js';
import { bare, buildServers, environmentOf } from './comparison/servers.js';
import type { UpstreamOrder, UpstreamReady, UpstreamReport } from './comparison/upstream.js';
import { markdownTable } from './markdown.js';
import type { BenchOptions } from './options.js';
import { median, quantile } from './statistics.js';

const lengths = {
  usual: { starts: 3, warmUpS: 3, rounds: 3, roundS: 2, expiryRounds: 2, expiryS: 12 },
  quick: { starts: 1, warmUpS: 0.5, rounds: 1, roundS: 0.5, expiryRounds: 1, expiryS: 5 },
};
type Lengths = (typeof lengths)['usual'];

const expiringOperation = '100 triggers with their sensors';
// Below what the slowest server with a cache can do, so that what is measured is not a queue.
const expiringPerSecond = 100;
// An hour, in which nothing of a peer's expires. Those of seisgraph stay what they are, 2 to 300 s.
const peersLifetime = { LIFETIME_S: '3600' };

/** Seisgraph beside servers that are not made for this: from their caches, as a fresh process, and as caches expire. */
export async function run({ quick }: BenchOptions): Promise<void> {
  const length = quick ? lengths.quick : lengths.usual;
  buildServers();
  using upstream = startHelper<UpstreamOrder, UpstreamReport>(
    new URL('./comparison/upstream.ts', import.meta.url),
  );
  using load = startHelper<LoadOrder, LoadReport>(new URL('./comparison/load.ts', import.meta.url));
  const env = environmentOf(await upstream.received<UpstreamReady>());
  const bench: Bench = { upstream, load, env, starts: length.starts, skipped: new Set() };
  console.log(
    `Node ${process.versions.node}, ${cpus().length} cores, upstream answers after ${upstreamLatencyMs} ms, ` +
      `${connections} connections, medians of ${length.rounds} rounds of ${length.roundS} s`,
  );
  for (const [name, query] of Object.entries(operations)) {
    await compare(bench, length, name, bodyOf(query));
  }
  await compareExpiries(bench, length);
}

interface Round {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly processorMs: number;
  readonly residentMiB: number;
}

/** As fast as each answers, everything cached, in turns; beside it what a fresh process took. */
async function compare(bench: Bench, length: Lengths, name: string, body: string): Promise<void> {
  await using entrants = await enter(bench, body, peersLifetime);
  const { warmUpS, rounds, roundS } = length;
  const measured = new Map(entrants.all.map((entrant) => [entrant, [] as Round[]]));
  for (const entrant of entrants.all) await drive(bench, entrant, body, warmUpS);
  for (let round = 0; round < rounds; round++) {
    for (const [entrant, done] of measured) {
      const { server } = entrant;
      await atRest(entrants.all);
      await entrants.expectSame(entrant);
      const beforeMs = server.processorMs();
      const { tookMs, seconds } = await drive(bench, entrant, body, roundS);
      done.push({
        perSecond: tookMs.length / seconds,
        p50Ms: median(tookMs),
        p99Ms: quantile(tookMs, 0.99),
        processorMs: (server.processorMs() - beforeMs) / tookMs.length,
        residentMiB: server.residentMiB(),
      });
    }
  }
  const of = (entrant: Entrant, value: keyof Round) =>
    median((measured.get(entrant) ?? []).map((round) => round[value]));
  const baseline = entrants.all.find(({ contender }) => contender.name === bare);
  if (!baseline) throw new Error('The bare server is not among the contenders');
  const rows = entrants.all.map((entrant) => [
    entrant.contender.name,
    of(entrant, 'perSecond').toFixed(0),
    (of(entrant, 'perSecond') / of(baseline, 'perSecond')).toFixed(2),
    of(entrant, 'p50Ms').toFixed(1),
    of(entrant, 'p99Ms').toFixed(1),
    of(entrant, 'processorMs').toFixed(3),
    (of(entrant, 'processorMs') / of(baseline, 'processorMs')).toFixed(1),
    of(entrant, 'residentMiB').toFixed(0),
    median(entrant.cold.tookMs).toFixed(0),
    median(entrant.cold.requests).toFixed(0),
  ]);
  console.log(`\n### ${name}\n`);
  console.log(
    markdownTable(
      [
        'everything cached',
        'per second',
        'of bare',
        'p50 ms',
        'p99 ms',
        'CPU ms each',
        'times bare',
        'resident MiB',
        'cold: first answer ms',
        'cold: upstream requests',
      ],
      rows,
    ),
  );
}

// A server that asks upstream each time goes on for seconds with what it was asked at the end of its round.
const restMs = 200;
const idleShare = 0.1;

/** Resolves when no server works any more: the rest of one's round would slow the next one down. */
async function atRest(entrants: readonly Entrant[]): Promise<void> {
  const workedMs = () => entrants.reduce((total, { server }) => total + server.processorMs(), 0);
  for (let beforeMs = workedMs(), isIdle = false; !isIdle; ) {
    await pause(restMs);
    const nowMs = workedMs();
    isIdle = nowMs - beforeMs < restMs * idleShare;
    beforeMs = nowMs;
  }
}

/** Continuous load over several lifetimes of the cache, apart for operations during which upstream was asked. */
async function compareExpiries(bench: Bench, length: Lengths): Promise<void> {
  const body = bodyOf(operations[expiringOperation] ?? '');
  await using entrants = await enter(bench, body, {});
  const { expiryRounds, expiryS, warmUpS } = length;
  const expiring = entrants.all.filter(({ contender }) => !contender.uncached);
  const reports = new Map(expiring.map((entrant) => [entrant, [] as Expiries[]]));
  for (const entrant of expiring) await drive(bench, entrant, body, warmUpS);
  for (let round = 0; round < expiryRounds; round++) {
    for (const [entrant, expiries] of reports) {
      // What expired while the others had their round is not measured.
      await drive(bench, entrant, body, 1);
      bench.upstream.send('forget');
      const { sentAtMs, tookMs } = await drive(bench, entrant, body, expiryS, expiringPerSecond);
      await pause(200);
      expiries.push(expiriesOf(sentAtMs, tookMs, (await bench.upstream.ask('report')).arrivedAtMs));
    }
  }
  const rows = [...reports].map(([{ contender }, expiries]) => {
    const between = expiries.flatMap((one) => one.betweenMs);
    const across = expiries.flatMap((one) => one.acrossMs);
    return [
      contender.name,
      String(expiries.reduce((total, { times }) => total + times, 0)),
      String(expiries.reduce((total, { requests }) => total + requests, 0)),
      ...[median(between), quantile(between, 0.99), median(across), quantile(across, 0.99)].map((ms) =>
        Number.isNaN(ms) ? '–' : ms.toFixed(1),
      ),
    ];
  });
  console.log(
    `\n### Across expiries: ${expiringOperation}, ${expiringPerSecond} a second for ${expiryRounds} times ${expiryS} s\n`,
  );
  console.log(
    markdownTable(
      [
        'a trigger is fresh for 2 s, a sensor for 10 s',
        'times upstream was asked',
        'upstream requests',
        'between: p50 ms',
        'p99 ms',
        'meanwhile: p50 ms',
        'p99 ms',
      ],
      rows,
    ),
  );
}

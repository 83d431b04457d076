import { ManualClock, realClock } from '../src/clock.js';
import { dashboards, hourOf, rowOf } from './dashboards.js';
import { plainLook } from './rate-limit-plain.js';
import { openDashboard } from './rate-limit-seisgraph.js';
import { simulatedUpstream } from './simulated-upstream.js';

const latencyMs = 120;

/** A simulated hour of 500 dashboards on one key, beside a plain gateway; then the path where all is cached. */
export async function run(): Promise<void> {
  console.log(
    `An hour of ${dashboards} dashboards that look every 30 s, one key for each interface at 60 requests a minute:\n`,
  );
  console.table({ seisgraph: await ourHour(), 'plain gateway': await plainHour() });
  console.log('\nThe same dashboard with everything cached:\n');
  console.table(await warm());
}

/** Every minute one look asks the graph itself, and all others make the reads that it made. */
async function ourHour() {
  const clock = new ManualClock();
  const upstream = simulatedUpstream(clock, latencyMs);
  const { look, glance } = openDashboard(clock, upstream);
  const first = look();
  await clock.advance(10_000);
  let reads = await first;
  let lookedAtMs = clock.now();
  const looks = await hourOf(clock, () => {
    if (clock.now() - lookedAtMs >= 60_000) {
      lookedAtMs = clock.now();
      look().then((made) => {
        reads = made;
      });
    }
    return glance(reads);
  });
  return rowOf(looks, upstream.counts);
}

async function plainHour() {
  const clock = new ManualClock();
  const upstream = simulatedUpstream(clock, latencyMs);
  return rowOf(await hourOf(clock, () => plainLook(upstream)), upstream.counts);
}

async function warm() {
  const clock = new ManualClock();
  const { look, glance } = openDashboard(clock, simulatedUpstream(clock, latencyMs));
  const first = look();
  await clock.advance(10_000);
  const reads = await first;
  return {
    'the operation, without HTTP': await paced(look),
    [`its ${reads.length} reads alone`]: await paced(() => glance(reads)),
  };
}

/** One after the other, in real time. */
async function paced(run: () => Promise<unknown>) {
  const seconds = 5;
  for (let warmUp = 0; warmUp < 20; warmUp++) await run();
  const tookMs: number[] = [];
  const untilMs = realClock.now() + seconds * 1000;
  const before = process.cpuUsage();
  while (realClock.now() < untilMs) {
    const startMs = performance.now();
    await run();
    tookMs.push(performance.now() - startMs);
  }
  const { user, system } = process.cpuUsage(before);
  tookMs.sort((a, b) => a - b);
  const processorMs = (user + system) / 1000 / tookMs.length;
  const at = (part: number) => (tookMs[Math.floor(tookMs.length * part)] ?? Number.NaN).toFixed(2);
  return {
    'per s': Math.round(tookMs.length / seconds),
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'processor ms': processorMs.toFixed(2),
  };
}

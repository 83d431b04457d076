import type { BenchOptions } from './options.js';

/**
 * `npm run bench` runs every benchmark that needs no more than this repository, `npm run bench -- rate-limit feed` those
 * named; `--quick` shortens `peers` and `profile`, enough to see that they run. Each prints a table of its own, with the
 * baseline that ran beside it: figures of different machines or runs do not compare.
 */
const benches: Record<string, () => Promise<{ run(options: BenchOptions): Promise<void> }>> = {
  serving: () => import('./serving.js'),
  'rate-limit': () => import('./rate-limit.js'),
  events: () => import('./events.js'),
  waveform: () => import('./waveform.js'),
  feed: () => import('./feed.js'),
  memory: () => import('./memory.js'),
  delay: () => import('./delay.js'),
  dashboard: () => import('./dashboard.js'),
  peers: () => import('./peers.js'),
  profile: () => import('./profile.js'),
};

// They install packages, take a quarter of an hour, or leave files behind.
const onlyByName = ['peers', 'profile'];

const options: BenchOptions = { quick: process.argv.includes('--quick') };
const asked = process.argv.slice(2).filter((argument) => argument !== '--quick');
const unknown = asked.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`No benchmark named ${unknown.join(', ')}: there are ${Object.keys(benches).join(', ')}`);
  process.exit(1);
}

for (const [name, load] of Object.entries(benches)) {
  if (asked.length > 0 ? !asked.includes(name) : onlyByName.includes(name)) continue;
  console.log(`\n## ${name}\n`);
  const { run } = await load();
  await run(options);
}
process.exit(0);

/**
 * `npm run bench` runs every benchmark, `npm run bench -- allowance feed` those named. Each prints a table of its own,
 * with the baseline that ran beside it: figures of different machines or runs do not compare.
 */
const benches: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  serving: () => import('./serving.js'),
  allowance: () => import('./allowance.js'),
  events: () => import('./events.js'),
  waveform: () => import('./waveform.js'),
  feed: () => import('./feed.js'),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`No benchmark named ${unknown.join(', ')}: there are ${Object.keys(benches).join(', ')}`);
  process.exit(1);
}

for (const [name, load] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n## ${name}\n`);
  const { run } = await load();
  await run();
}
process.exit(0);

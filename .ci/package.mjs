#!/usr/bin/env node
// Packs the package, and runs it from the tarball as `npx seisgraph` would: in an empty folder, with nothing but its
// dependencies. Fails where the tarball holds what it should not, lacks what it needs, or does not serve the sandbox.
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'seisgraph-package-'));
const npm = (args, cwd) =>
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });

const [packed] = JSON.parse(npm(['pack', '--json', '--silent', '--pack-destination', work], root));
const paths = packed.files.map(({ path }) => path);
const wrong = paths.filter(
  (path) => !/^(dist\/|schema\/|package\.json$|[A-Z]+(\.md)?$)/.test(path) || /test|\.env/.test(path),
);
if (wrong.length > 0) throw new Error(`The package holds ${wrong.join(', ')}`);
for (const path of [
  'dist/main.js',
  'dist/app.d.ts',
  'dist/client/index.d.ts',
  'dist/dashboard/index.html',
  'schema/schema.graphql',
  'LICENSE',
  'README.md',
]) {
  if (!paths.includes(path)) throw new Error(`The package lacks ${path}`);
}

npm(['init', '--yes', '--silent'], work);
// By itself and globally: `overrides` of package.json have no effect here.
for (const where of [[], ['--global', '--prefix', join(work, 'global')]]) {
  const { status, stderr } = spawnSync(
    'npm',
    ['install', ...where, '--engine-strict', '--no-audit', '--no-fund', join(work, packed.filename)],
    { cwd: work, encoding: 'utf8' },
  );
  if (status !== 0 || /npm warn/i.test(stderr))
    throw new Error(`npm install ended with ${status}: ${stderr}`);
}
const gateway = spawn(join(work, 'node_modules/.bin/seisgraph'), [], {
  cwd: work,
  env: { PATH: process.env.PATH, PORT: '0' },
});
let output = '';
gateway.stdout.on('data', (chunk) => {
  output += chunk;
});
gateway.stderr.pipe(process.stderr);
const exit = new Promise((resolve) => gateway.on('close', (code, signal) => resolve(signal ?? code)));
try {
  let url;
  for (let tries = 0; tries < 150 && !url; tries++) {
    await sleep(200);
    url = /"url":"([^"]+)"/.exec(output)?.[1];
  }
  if (!url) throw new Error(`It does not say where it listens: ${output}`);
  const response = await fetch(`${url}/graphql?query={gateway{sandbox}sensors(first:1){nodes{stationCode}}}`);
  const { data } = await response.json();
  if (data?.gateway.sandbox !== true || data.sensors.nodes.length !== 1)
    throw new Error('It does not serve the sandbox');
  const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
  if (!(await page.text()).includes('defaultTabs')) throw new Error('It has no GraphiQL');
  const dashboard = await fetch(`${url}/dashboard`);
  if (!(await dashboard.text()).includes('./assets/')) throw new Error('It has no dashboard');
  // Its client, from the tarball too; test/client/package.test.ts compiles a page with its types.
  const program = `
    import { NetworksDocument, request, subscribeWithResume } from 'seisgraph/client';
    import { parseConfig } from 'seisgraph/config';
    import.meta.resolve('seisgraph/schema.graphql');
    const { data } = await request(NetworksDocument, {}, { url: '${url}/graphql' });
    if (data.networks.length === 0 || typeof subscribeWithResume !== 'function') throw new Error('The client does not work');
    parseConfig({});
  `;
  writeFileSync(join(work, 'program.mjs'), program);
  await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: work });
  gateway.kill('SIGTERM');
  const ended = await Promise.race([exit, sleep(15_000, 'nothing')]);
  if (ended !== 0) throw new Error(`SIGTERM ended it with ${ended}`);
  console.log(
    `Node ${process.version}: the package holds ${paths.length} files and serves the sandbox: ${(packed.size / 1024).toFixed()} kB packed`,
  );
} finally {
  gateway.kill('SIGKILL');
  rmSync(work, { recursive: true });
}

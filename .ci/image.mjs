#!/usr/bin/env node
// Runs the Dockerfile's steps where there is no engine: each stage in a folder of its own, the result as a user without
// rights on files that nobody may write. Fails where the image would not build, start, be healthy, or stop.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), '..');
const work = mkdtempSync(join(tmpdir(), 'seisgraph-image-'));
const nobody = 65534;

const instructions = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1).trim()]);

const stages = {};
let stage;
for (const [name, rest] of instructions) {
  if (name === 'FROM') {
    const [, , alias = 'final'] = rest.split(/\s+/);
    stage = { folder: join(work, alias), env: {}, user: 'root', workdir: '/' };
    stages[alias] = stage;
  } else if (name === 'WORKDIR') {
    stage.workdir = rest;
    mkdirSync(join(stage.folder, rest), { recursive: true });
  } else if (name === 'COPY') copy(rest);
  else if (name === 'ENV') stage.env[rest.split('=')[0]] = rest.slice(rest.indexOf('=') + 1);
  else if (name === 'RUN') {
    console.log(`RUN ${rest}`);
    execFileSync('sh', ['-ec', rest], {
      cwd: join(stage.folder, stage.workdir),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } else if (name === 'USER') stage.user = rest;
  else if (name === 'HEALTHCHECK') stage.health = JSON.parse(rest.slice(rest.indexOf('[')));
  else if (name === 'ENTRYPOINT') stage.entrypoint = JSON.parse(rest);
  else if (name !== 'EXPOSE') throw new Error(`This script does not know ${name}`);
}

function copy(rest) {
  const words = rest.split(/\s+/);
  const from = words[0].startsWith('--from=') ? stages[words.shift().slice('--from='.length)].folder : root;
  const target = join(stage.folder, stage.workdir, words.pop());
  for (const source of words) {
    const isFolder = words.length > 1 || rest.endsWith('./');
    cpSync(join(from, source), isFolder ? join(target, source) : target, { recursive: true });
  }
}

const { final } = stages;
if (final.user === 'root') throw new Error('The image would run as root');
const app = join(final.folder, final.workdir);
for (const dev of ['typescript', 'vitest', 'vite', 'react', '@biomejs/biome', 'tsx']) {
  if (existsSync(join(app, 'node_modules', dev))) throw new Error(`${dev} is in the image`);
}
execFileSync('chmod', ['-R', 'a-w,a+rX', work]);
// mkdtemp gives the folder to its owner alone.
execFileSync('chmod', ['a+rx', work]);

const port = 40_000 + (process.pid % 10_000);
const isRoot = process.getuid() === 0;
const identity = isRoot ? { uid: nobody, gid: nobody } : {};
const env = { PATH: process.env.PATH, ...final.env, PORT: String(port) };
const start = (more) =>
  spawn(final.entrypoint[0], final.entrypoint.slice(1), { cwd: app, env: { ...env, ...more }, ...identity });

const refused = start({});
const words = [];
refused.stderr.on('data', (chunk) => words.push(chunk));
const code = await new Promise((resolve) => refused.on('close', resolve));
if (code !== 1 || !/AUTH_MODE/.test(words.join('')))
  throw new Error('It started for everyone without an access mode');

const gateway = start({ AUTH_MODE: 'token', GATEWAY_TOKENS: 'token-of-the-image' });
gateway.stdout.pipe(process.stdout);
gateway.stderr.pipe(process.stderr);
const exit = new Promise((resolve) => gateway.on('close', (code, signal) => resolve(signal ?? code)));
try {
  let isHealthy = false;
  for (let tries = 0; tries < 100 && !isHealthy; tries++) {
    await sleep(200);
    isHealthy = isTrue(() =>
      execFileSync(final.health[0], final.health.slice(1), { env, cwd: app, stdio: 'ignore' }),
    );
  }
  if (!isHealthy) throw new Error('It does not become healthy');
  const response = await fetch(`http://127.0.0.1:${port}/graphql?query={gateway{sandbox}}`, {
    headers: { authorization: 'Bearer token-of-the-image' },
  });
  if ((await response.json()).data?.gateway?.sandbox !== true) throw new Error('It does not answer');
  const page = await fetch(`http://127.0.0.1:${port}/dashboard/`);
  if (page.status !== 200) throw new Error('It has no dashboard');
  const owner = readFileSync(`/proc/${gateway.pid}/status`, 'utf8').match(/^Uid:\s+(\d+)/m)?.[1];
  if (isRoot && owner !== String(nobody)) throw new Error(`It runs as ${owner}`);
  if (
    isRoot &&
    isTrue(() => execFileSync('touch', [join(app, 'dist/x')], { ...identity, stdio: 'ignore' }))
  ) {
    throw new Error('Its files can be written');
  }
  gateway.kill('SIGTERM');
  const ended = await Promise.race([exit, sleep(15_000, 'nothing')]);
  if (ended !== 0) throw new Error(`SIGTERM ended it with ${ended}`);
  console.log('The image builds, starts without rights on files that it cannot write, is healthy, and stops');
} finally {
  gateway.kill('SIGKILL');
  execFileSync('chmod', ['-R', 'u+w', work]);
  rmSync(work, { recursive: true });
}

function isTrue(run) {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}

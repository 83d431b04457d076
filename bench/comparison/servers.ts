import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { unlimitedIn } from '../environment.js';
import type { UpstreamReady } from './upstream.js';

/** A server under comparison, as an operator would run it. */
export interface Contender {
  readonly name: string;
  readonly script: string;
  readonly nodeOptions?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Printed in place of its rows when the server refuses to start; a failure of the bench where there is none. */
  readonly mayRefuse?: string;
  /** Has no cache of responses, so that nothing of it expires. */
  readonly uncached?: boolean;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The gateway with the options of Node that `npm start` gives it. */
export const gateway = {
  script: `${root}dist/main.js`,
  nodeOptions: JSON.parse(readFileSync(`${root}package.json`, 'utf8')).scripts.start.match(
    /--\S+/g,
  ) as string[],
};
const peer = (name: string) => `${root}bench/peers/dist/${name}.js`;

export const bare = 'bare node:http';

/** The first answers what the others must; the bare server sends its bytes. */
export const contenders: readonly Contender[] = [
  { name: 'seisgraph', ...gateway, env: {} },
  { name: bare, script: peer('bare-http'), env: {}, uncached: true },
  {
    name: 'seisgraph, two workers',
    ...gateway,
    env: { WORKERS: '2' },
    mayRefuse: 'WORKERS=2 is not in this version',
  },
  { name: 'seisgraph, computed', ...gateway, env: { ANSWER_CACHE: 'false' } },
  { name: 'Mercurius, JIT, mercurius-cache', script: peer('mercurius'), env: {} },
  { name: 'Apollo Server, RESTDataSource', script: peer('apollo'), env: {} },
  {
    name: 'Apollo Server, response cache',
    script: peer('apollo'),
    env: { RESPONSE_CACHE: 'true' },
  },
  { name: 'Yoga, response cache', script: peer('yoga'), env: { RESPONSE_CACHE: 'true' } },
  { name: 'Yoga, a fetch per read', script: peer('yoga'), env: {}, uncached: true },
];

/** Compiles everything first, so that no server pays for that at its start. */
export function buildServers(): void {
  if (!existsSync(`${root}bench/peers/node_modules`)) npm('ci', '--prefix', 'bench/peers');
  buildGateway();
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', 'bench/peers'], {
    cwd: root,
    stdio: 'inherit',
  });
}

export const buildGateway = (): void => npm('run', '--silent', 'build');

function npm(...args: string[]): void {
  execFileSync('npm', args, { cwd: root, stdio: 'inherit' });
}

/** Both interfaces without limits; nothing is logged, as by the peers. */
export function environmentOf(upstream: UpstreamReady): Record<string, string> {
  return { ...unlimitedIn(upstream), NODE_ENV: 'production', LOG_LEVEL: 'error' };
}

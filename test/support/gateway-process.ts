import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanUpAfterTests } from './clean-up.js';
import { SecretScan } from './secret-scan.js';

/** The gateway as a process of its own, built like the one that is published. */
export interface GatewayProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** The address of the log line at the start; rejects when the process ends before. */
  readonly url: Promise<string>;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

// One step below the root, as `dist` is: what lies beside it is found from there.
export const buildFolder = join(root, `dist-test-${process.pid}`);

/** To be called before the first process, and the returned function after the last. */
export function build(): () => void {
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(
    tsc,
    ['-p', 'tsconfig.build.json', '--noCheck', '--declaration', 'false', '--outDir', buildFolder],
    {
      cwd: root,
    },
  );
  return () => rmSync(buildFolder, { recursive: true });
}

export interface GatewayProcessOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Modules loaded before it, from the root of the package. */
  readonly preload?: readonly string[];
  /** A descriptor in place of a pipe that the test reads; the address then comes over another. */
  readonly stdout?: number;
  readonly stderr?: number;
}

export function startProcess({
  args = [],
  env = {},
  preload = [],
}: GatewayProcessOptions = {}): GatewayProcess {
  const imports = preload.flatMap((module) => ['--import', module]);
  const child = spawn(process.execPath, [...imports, join(buildFolder, 'main.js'), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PORT: '0', ...env },
  });
  let stdout = '';
  let stderr = '';
  const scan = new SecretScan(secretsIn(env));
  const scanOutput = scan.pieces();
  const scanErrors = scan.pieces();
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      scanOutput(String(chunk));
      const line = stdout.split('\n').find((text) => text.includes('"Listening"') && text.endsWith('}'));
      if (!line) return;
      const { url } = JSON.parse(line);
      scan.scanResponsesOf(Number(new URL(url).port));
      resolve(url);
    });
    exit.then(() => reject(new Error(`The process ended: ${stderr}`)));
  });
  url.catch(() => {});
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    scanErrors(String(chunk));
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await exit;
    scan.expectNone();
  };
  cleanUpAfterTests(stop);
  return {
    child,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    url,
    exit,
    [Symbol.asyncDispose]: stop,
  };
}

/** Keys, tokens and upstream addresses. */
function secretsIn(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (/_API_URL$/.test(name)) return new URL(value).host;
    return /_KEY$|TOKENS$/.test(name) ? value.split(',') : [];
  });
}

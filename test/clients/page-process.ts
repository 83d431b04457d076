import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cleanUpAfterTests } from '../support/clean-up.js';

/** The folder of the examples: a package of its own, with its own graphql, so that they run as processes of their own. */
export const examples = fileURLToPath(new URL('../../examples/clients/', import.meta.url));

/** A page of an example, used through its stdin and stdout. */
export interface PageProcess extends AsyncDisposable {
  /** Presses the button of this name. */
  press(button: string): void;
  /** What a part of it has shown, the latest last. */
  shown(part: 'triggers' | 'batteries'): readonly (readonly string[])[];
  /** The headers and the body of each request that it sent over HTTP. */
  readonly requests: readonly { readonly headers: Record<string, string>; readonly body: string }[];
  /** The triggers that it was sent over its socket, each with every change. */
  readonly changes: readonly { readonly triggerId: string; readonly status: string }[];
  readonly stderr: string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
}

export function startPage(script: string, args: readonly string[]): PageProcess {
  const preload = fileURLToPath(new URL('tell-requests.mjs', import.meta.url));
  const child = spawn(process.execPath, ['--import', preload, '--import', 'tsx', script, ...args], {
    cwd: examples,
    // In development React writes that its test renderer is deprecated.
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production' },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  cleanUpAfterTests(stop);
  const lines = () =>
    stdout
      .slice(0, stdout.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return {
    press: (button) => void child.stdin.write(`${button}\n`),
    shown: (part) => lines().flatMap((line) => (line.part === part ? [line.rows] : [])),
    get requests() {
      return lines().flatMap(({ request }) => (request ? [request] : []));
    },
    get changes() {
      return lines().flatMap(({ change }) => (change ? [change.trigger] : []));
    },
    ended,
    get stderr() {
      return stderr;
    },
    [Symbol.asyncDispose]: stop,
  };
}

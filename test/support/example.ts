import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const folderOf = (name: string) => fileURLToPath(new URL(`../../examples/${name}/`, import.meta.url));

/**
 * Why tests of an example with packages of its own are left out; null where they run. REQUIRE_SERVICES=1 makes leaving
 * them out a failure.
 */
export function exampleLeftOut(name: string): string | null {
  if (existsSync(`${folderOf(name)}node_modules`) || process.env.REQUIRE_SERVICES === '1') return null;
  return `SKIPPED: run npm ci --prefix examples/${name} first`;
}

/** A server of an example, on a free port; `url` is the line that it prints at its start. */
export async function startExample(
  name: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { readonly url: string; end(signal: NodeJS.Signals): Promise<number | null> }> {
  const child = spawn(process.execPath, [file], {
    cwd: folderOf(name),
    env: { PATH: process.env.PATH ?? '', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  for await (const url of createInterface({ input: child.stdout })) {
    return {
      url,
      /** Its exit code. */
      async end(signal) {
        child.kill(signal);
        const [code] = await ended;
        return code;
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
  throw new Error(`examples/${name}/${file} ended without an address`);
}

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface BuiltDashboard {
  readonly folder: URL;
  remove(): void;
}

/** The dashboard as `npm run build` makes it, in a folder of its own: test files that run side by side would clear each other's. */
export function buildDashboard(
  path: string = mkdtempSync(join(tmpdir(), 'seisgraph-dashboard-')),
): BuiltDashboard {
  execFileSync(
    join(root, 'node_modules/.bin/vite'),
    [
      'build',
      '--config',
      'examples/dashboard/vite.config.ts',
      '--outDir',
      path,
      '--emptyOutDir',
      '--logLevel',
      'error',
    ],
    // The suite's own NODE_ENV would build React for development.
    { cwd: root, env: { ...process.env, NODE_ENV: 'production' } },
  );
  return { folder: pathToFileURL(`${path}/`), remove: () => rmSync(path, { recursive: true }) };
}

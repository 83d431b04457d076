import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

// .ci/package.mjs does the same with the tarball itself, which needs the registry for what it depends on.
const root = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(root, 'node_modules/.bin/tsc');
const work = mkdtempSync(join(tmpdir(), 'seisgraph-consumer-'));
const own = join(work, 'node_modules/seisgraph');
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: work, encoding: 'utf8' });

beforeAll(() => {
  mkdirSync(own, { recursive: true });
  for (const name of ['package.json', 'schema'])
    cpSync(join(root, name), join(own, name), { recursive: true });
  for (const project of ['tsconfig.build.json', 'src/client'])
    execFileSync(tsc, ['-p', project, '--outDir', join(own, 'dist')], { cwd: root });
  for (const name of Object.keys(packageJson.dependencies)) {
    mkdirSync(dirname(join(work, 'node_modules', name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(work, 'node_modules', name));
  }
  writeFileSync(join(work, 'package.json'), '{ "type": "module" }');
}, 120_000);
afterAll(() => rmSync(work, { recursive: true }));

it('each entry of the package is among its files', () => {
  const targets = Object.values<string | Record<string, string>>(packageJson.exports).flatMap((entry) =>
    typeof entry === 'string' ? entry : Object.values(entry),
  );
  const isPacked = (target: string) =>
    packageJson.files.some((path: string) => target === `./${path}` || target.startsWith(`./${path}/`));
  expect(targets.filter((target) => !isPacked(target))).toEqual([]);
  for (const target of targets) expect(() => readFileSync(join(own, target))).not.toThrow();
});

it('a program that has the package imports its client, its configuration and its schema', () => {
  const program = `
    import { readFileSync } from 'node:fs';
    import { fileURLToPath } from 'node:url';
    import { subscribeWithResume } from 'seisgraph/client';
    import { ConfigError, parseConfig } from 'seisgraph/config';
    const schema = readFileSync(fileURLToPath(import.meta.resolve('seisgraph/schema.graphql')), 'utf8');
    let wrong;
    try { parseConfig({ PORT: 'x' }); } catch (error) { wrong = error instanceof ConfigError && error.variable; }
    console.log(JSON.stringify([typeof subscribeWithResume, parseConfig({}).port, wrong, schema.includes('type Query')]));
  `;
  writeFileSync(join(work, 'program.js'), program);
  expect(JSON.parse(run('program.js'))).toEqual(['function', 4000, 'PORT', true]);
});

it.each(['nodenext', 'bundler'])(
  'a page that is compiled with %s has the types of the client',
  (resolution) => {
    const page = `
    import { type DateTime, GraphError, LiveTriggersDocument, request, SensorsDocument, subscribeWithResume } from 'seisgraph/client';
    export async function follow(): Promise<void> {
      const { data, errors } = await request(SensorsDocument, {}, { url: '/graphql' });
      const seen: DateTime | null | undefined = data.sensors?.nodes[0]?.lastSeenAt;
      // @ts-expect-error: an operation without variables takes none
      await request(SensorsDocument, { first: 5 }, { url: '/graphql' });
      // @ts-expect-error: there is no such transport
      subscribeWithResume(LiveTriggersDocument, { url: '/graphql', transport: 'tcp' });
      try {
        for await (const change of subscribeWithResume(LiveTriggersDocument, { url: '/graphql', transport: 'ws' })) {
          const kind: 'OPENED' | 'UPDATED' | 'CLOSED' = change.data.triggerChanges.kind;
          document.title = [kind, seen, errors[0]?.code].join(' ');
        }
      } catch (error) {
        if (error instanceof GraphError && error.code === 'CURSOR_EXPIRED') location.reload();
      }
    }
  `;
    writeFileSync(join(work, 'page.ts'), page);
    const [module, lib] = [resolution === 'bundler' ? 'esnext' : 'nodenext', 'es2022,dom'];
    const options = ['--ignoreConfig', '--strict', '--noEmit', '--types', '', '--target', 'es2022'];
    const compile = () =>
      execFileSync(
        tsc,
        ['page.ts', ...options, '--lib', lib, '--module', module, '--moduleResolution', resolution],
        {
          cwd: work,
          encoding: 'utf8',
        },
      );
    expect(compile).not.toThrow();
  },
);

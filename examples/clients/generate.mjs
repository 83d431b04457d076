// Writes what the examples import from `generated/`: types, cache configuration, Relay's artifacts and the manifests of
// persisted operations. None of it is committed, so that it is always of the graph as it is.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { bundle } from './relay/bundle.mjs';

process.chdir(import.meta.dirname ?? new URL('.', import.meta.url).pathname);
const run = (...command) =>
  execFileSync(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] });

for (const client of ['apollo', 'urql', 'codegen', 'relay']) {
  rmSync(`${client}/generated`, { recursive: true, force: true });
  mkdirSync(`${client}/generated`);
}
run('node_modules/@graphql-codegen/cli/esm/bin.js', '--config', 'codegen.ts');
const manifest = [
  '--require',
  './apollo/defer-in-manifest.cjs',
  'node_modules/@apollo/generate-persisted-query-manifest/cli.js',
];
run(...manifest, '--config', 'persisted-query-manifest.apollo.json');
// urql sends its texts, and has no tool of its own: a text that is in a manifest is answered where nothing else is.
run(...manifest, '--config', 'persisted-query-manifest.urql.json');
// The compiler wants its manifest to be there.
writeFileSync('relay/generated/manifest.json', '{}');
run('node_modules/relay-compiler/cli.js', 'relay.config.json');
await bundle();

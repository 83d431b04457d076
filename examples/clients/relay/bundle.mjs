// Bundles the page, as the build tool of a frontend does.
import { readFile } from 'node:fs/promises';
import { transformAsync } from '@babel/core';
import { build } from 'esbuild';

// Puts the compiler's artifacts in the place of the texts of operations.
const relay = {
  name: 'relay',
  setup({ onLoad }) {
    onLoad({ filter: /relay\/[^/]+\.tsx$/ }, async ({ path }) => {
      const { code } = await transformAsync(await readFile(path, 'utf8'), {
        filename: path,
        presets: ['@babel/preset-typescript'],
        plugins: [['relay', { artifactDirectory: 'relay/generated', eagerEsModules: true }]],
        parserOpts: { plugins: ['jsx'] },
        configFile: false,
      });
      return { contents: code, loader: 'jsx' };
    });
  },
};

export const bundle = () =>
  build({
    entryPoints: ['relay/main.tsx'],
    outfile: 'relay/generated/main.mjs',
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    jsx: 'automatic',
    plugins: [relay],
  });

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Writes each file in Brotli beside it. The gateway cannot: the best quality takes longer than a visitor gains by it. */
const withBrotli: Plugin = {
  name: 'with-brotli',
  writeBundle({ dir = '' }, files) {
    for (const name of Object.keys(files)) {
      const path = join(dir, name);
      writeFileSync(`${path}.br`, brotliCompressSync(readFileSync(path)));
    }
  },
};

export default defineConfig({
  root: path('./'),
  // Relative addresses work under any path prefix of a proxy.
  base: './',
  plugins: [withBrotli],
  build: {
    outDir: path('../../dist/dashboard'),
    emptyOutDir: true,
    // The content security policy allows no data: addresses but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});

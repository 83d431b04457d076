import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  root: path('./'),
  // Relative addresses work under any path prefix of a proxy.
  base: './',
  build: {
    outDir: path('../../dist/dashboard'),
    emptyOutDir: true,
    // The content security policy allows no data: addresses but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});

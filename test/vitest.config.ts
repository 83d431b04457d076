import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const client = fileURLToPath(new URL('../src/client/index.ts', import.meta.url));

export default defineConfig({
  // Without this alias vitest loads a second copy of graphql 16: "another module or realm".
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: 'graphql/index.js' },
      // The examples import the package by its name.
      { find: /^seisgraph\/client$/, replacement: client },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    testTimeout: 60_000,
    // Importing the gateway takes longer than most files: the files of a process share what they import. None keeps
    // anything in a module that another could meet.
    isolate: false,
    // Most tests wait for answers rather than compute.
    maxWorkers: '100%',
  },
});

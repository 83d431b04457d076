import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Without this alias vitest loads a second copy of graphql 16: "another module or realm".
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
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

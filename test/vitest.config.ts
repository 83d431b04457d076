import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Without this alias vitest loads a second copy of graphql 16: "another module or realm".
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/setup.ts'],
    testTimeout: 60_000,
    // Most tests wait for answers rather than compute.
    maxWorkers: '100%',
  },
});

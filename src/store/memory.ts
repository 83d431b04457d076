import type { Store } from './store.js';

/** Store of a single process, which shares nothing. */
export const aloneStore: Store = {
  connection: null,
  settled: Promise.resolve(),
  instances: 1,
  bodies: () => null,
  journal: () => ({ onEntry() {}, onCount() {}, enter: () => 'alone', append: async () => false }),
  changes: () => null,
  close: async () => {},
};

import type { Store } from './store.js';

/** Store of a single process, which shares nothing. */
export const unsharedStore: Store = {
  connection: null,
  settled: Promise.resolve(),
  instances: 1,
  bodies: () => null,
  journal: () => ({ onEntry() {}, onCount() {}, enter: () => 'unshared', append: async () => false }),
  changes: () => null,
  close: async () => {},
};

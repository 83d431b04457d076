import type { Store } from './store.js';

/** Of one process: what it keeps and counts by itself is all there is, and there is nobody to share it with. */
export const aloneStore: Store = {
  connection: null,
  settled: Promise.resolve(),
  instances: 1,
  bodies: () => null,
  journal: () => ({ onEntry() {}, onCount() {}, enter: () => 'alone', tell: async () => false }),
  changes: () => null,
  close: async () => {},
};

import { vi } from 'vitest';
import { type Clock, realClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import { Channel } from '../../src/store/hub/channel.js';
import { Hub, type HubCalls, type HubNotices } from '../../src/store/hub/hub.js';
import { openHubStore } from '../../src/store/hub/store.js';
import { openRedisStore } from '../../src/store/redis/store.js';
import type { Store } from '../../src/store/store.js';
import { cleanUpAfterTests } from './clean-up.js';
import { instantPorts, messagePorts } from './ports.js';
import { noRedis, startRedis } from './redis.js';

/** What instances share, wherever it lies. */
export interface SharedStore extends AsyncDisposable {
  /** As one more instance has it. */
  open(): Promise<Store>;
  /** The process of that instance was killed: it notifies nobody. */
  kill(store: Store): void;
  /** All that was shared is lost. */
  lose(): Promise<void>;
  close(): Promise<void>;
}

export interface SharedStoreKind {
  readonly title: string;
  /** Why its tests are left out; null where they run. */
  readonly leftOut: string | null;
  start(): Promise<SharedStore>;
}

/** Every kind must keep the same promises. */
export const sharedStores: readonly SharedStoreKind[] = [
  { title: 'in Redis', leftOut: noRedis, start: startRedisStore },
  { title: 'with the primary of several workers', leftOut: null, start: async () => startHubStore() },
];

async function startRedisStore(): Promise<SharedStore> {
  const redis = await startRedis();
  const log = createLog({ level: 'silent', secrets: [] });
  const close = () => redis.close();
  return {
    async open() {
      const store = openRedisStore({ url: redis.url, clock: realClock, log });
      cleanUpAfterTests(() => store.close());
      await isUp(store);
      return store;
    },
    kill: (store) => void store.close(),
    lose: () => redis.restart(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** With a clock that the test drives, messages take no time. */
export function startHubStore(clock?: Clock, maxBytes = 64 * 1024 * 1024): SharedStore {
  const newHub = () => new Hub({ clock: clock ?? realClock, maxBytes });
  let hub = newHub();
  const ways = new Map<Store, () => void>();
  const closeAll = async () => {
    for (const close of ways.values()) close();
    ways.clear();
  };
  cleanUpAfterTests(closeAll);
  return {
    async open() {
      const { ends, close } = clock ? instantPorts() : messagePorts();
      hub.serve(new Channel<HubNotices>(ends[0]));
      const store = openHubStore(new Channel<HubCalls>(ends[1]), clock ?? realClock);
      ways.set(store, close);
      return store;
    },
    kill: (store) => ways.get(store)?.(),
    async lose() {
      await closeAll();
      hub = newHub();
    },
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  };
}

export async function isUp({ connection }: Store, expected = true): Promise<void> {
  await vi.waitFor(
    () => {
      if (connection?.isUp !== expected) throw new Error(`It should be ${expected ? 'there' : 'away'}`);
    },
    { timeout: 15_000, interval: 5 },
  );
}

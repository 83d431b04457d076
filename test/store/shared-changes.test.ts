import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type SharedChanges, StoreUnavailable } from '../../src/store/store.js';
import { isUp, type SharedStore, sharedStores } from '../support/shared-store.js';

for (const { title, leftOut, start } of sharedStores) {
  if (leftOut) console.warn(`The changes of a feed ${title}: ${leftOut}`);
  describe.skipIf(leftOut)(`the changes of a feed ${title}${leftOut ? ` (${leftOut})` : ''}`, () => {
    let shared: SharedStore;
    let names = 0;
    beforeAll(async () => {
      shared = await start();
    });
    afterAll(() => shared.close());

    async function instances(count: number): Promise<SharedChanges[]> {
      const name = `feed ${names++}`;
      const stores = await Promise.all(Array.from({ length: count }, () => shared.open()));
      return stores.map((store) => store.changes(name) as SharedChanges);
    }

    it('begin with a snapshot, and are numbered from 1 whoever publishes', async () => {
      const [a, b] = (await instances(2)) as [SharedChanges, SharedChanges];
      expect(await a.attach(null)).toBeNull();
      expect(await b.attach(null)).toBeNull();
      expect(await a.begin(7, 'snapshot')).toBe(true);
      expect(await b.begin(8, 'another')).toBe(false);
      expect(await a.append(7, ['one', 'two'])).toBe(2);
      expect(await b.append(7, ['three'])).toBe(3);
      expect(await a.readAfter({ epoch: 7, offset: 1 })).toEqual([
        { offset: 2, text: 'two' },
        { offset: 3, text: 'three' },
      ]);
      const all = [1, 2, 3].map((offset) => ({ offset, text: ['one', 'two', 'three'][offset - 1] }));
      expect(await b.attach(null)).toEqual({
        epoch: 7,
        snapshot: { offset: 0, text: 'snapshot' },
        changes: all,
      });
      // An instance that has some of it gets the rest; an instance of an ended epoch gets all.
      expect(await b.attach({ epoch: 7, offset: 2 })).toEqual({
        epoch: 7,
        snapshot: null,
        changes: all.slice(2),
      });
      expect((await b.attach({ epoch: 6, offset: 9 }))?.changes).toEqual(all);
    });

    it('are read from the latest snapshot on by an instance that attaches', async () => {
      const [a, b] = (await instances(2)) as [SharedChanges, SharedChanges];
      await a.attach(null);
      await a.begin(7, 'snapshot');
      await a.append(7, ['one', 'two', 'three']);
      await a.replaceSnapshot({ epoch: 7, offset: 2 }, 'later');
      await a.replaceSnapshot({ epoch: 6, offset: 3 }, 'of an epoch that has ended');
      expect(await b.attach(null)).toEqual({
        epoch: 7,
        snapshot: { offset: 2, text: 'later' },
        changes: [{ offset: 3, text: 'three' }],
      });
    });

    it('are over when the last listener has left, and nothing can be added to them', async () => {
      const [a, b] = (await instances(2)) as [SharedChanges, SharedChanges];
      await a.attach(null);
      await a.begin(7, 'snapshot');
      await a.leave();
      expect(await b.attach(null)).toBeNull();
      expect(await a.append(7, ['one'])).toBeNull();
      expect(await a.readAfter({ epoch: 7, offset: 0 })).toBeNull();
      expect((await b.heartbeat(null)).last).toBeNull();
    });

    it('continue for an instance that was partitioned and attaches again within its epoch', async () => {
      const [a] = (await instances(1)) as [SharedChanges];
      await a.attach(null);
      await a.begin(7, 'snapshot');
      await a.append(7, ['one']);
      expect(await a.attach({ epoch: 7, offset: 1 })).toEqual({ epoch: 7, snapshot: null, changes: [] });
    });

    it('have one leader: the next when it leaves, and when its heartbeats end', async () => {
      const [a, b, c] = (await instances(3)) as [SharedChanges, SharedChanges, SharedChanges];
      for (const one of [a, b, c]) await one.attach(null);
      expect((await a.heartbeat('progress')).isLeader).toBe(true);
      expect(await b.heartbeat('not its own')).toEqual({ isLeader: false, last: null, progress: 'progress' });
      await a.leave();
      expect((await b.heartbeat(null)).isLeader).toBe(true);
      // Its process was killed: the lease runs out.
      const expired = vi.waitFor(async () => expect((await c.heartbeat(null)).isLeader).toBe(true), 20_000);
      await expired;
      expect((await b.heartbeat(null)).isLeader).toBe(false);
    }, 30_000);

    it('notify the other instances of an append', async () => {
      const [a, b] = (await instances(2)) as [SharedChanges, SharedChanges];
      const listener = vi.fn();
      const removed = vi.fn();
      b.onAppend(removed)();
      b.onAppend(listener);
      await a.attach(null);
      await a.begin(7, 'snapshot');
      await vi.waitFor(async () => {
        await a.append(7, ['one']);
        expect(listener).toHaveBeenCalled();
      });
      expect(removed).not.toHaveBeenCalled();
    });

    it('throw StoreUnavailable when what is shared is gone', async () => {
      await using own = await start();
      const store = await own.open();
      const changes = store.changes('feed') as SharedChanges;
      await changes.attach(null);
      await own.close();
      await isUp(store, false);
      await expect(changes.begin(7, 'snapshot')).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(changes.heartbeat(null)).rejects.toBeInstanceOf(StoreUnavailable);
      await changes.leave();
    });
  });
}

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
      expect(await a.begin(7, 'base')).toBe(true);
      expect(await b.begin(8, 'another')).toBe(false);
      expect(await a.append(7, ['one', 'two'])).toBe(2);
      expect(await b.append(7, ['three'])).toBe(3);
      expect(await a.readAfter({ epoch: 7, offset: 1 })).toEqual([
        { offset: 2, text: 'two' },
        { offset: 3, text: 'three' },
      ]);
      const all = [1, 2, 3].map((offset) => ({ offset, text: ['one', 'two', 'three'][offset - 1] }));
      expect(await b.attach(null)).toEqual({ epoch: 7, snapshot: { offset: 0, text: 'base' }, changes: all });
      // Who has some of it gets the rest; who has a run that is over, all.
      expect(await b.attach({ epoch: 7, offset: 2 })).toEqual({
        epoch: 7,
        snapshot: null,
        changes: all.slice(2),
      });
      expect((await b.attach({ epoch: 6, offset: 9 }))?.changes).toEqual(all);
    });

    it('are told to whoever attaches from a later state on, once there is one', async () => {
      const [a, b] = (await instances(2)) as [SharedChanges, SharedChanges];
      await a.attach(null);
      await a.begin(7, 'base');
      await a.append(7, ['one', 'two', 'three']);
      await a.replaceSnapshot({ epoch: 7, offset: 2 }, 'later');
      await a.replaceSnapshot({ epoch: 6, offset: 3 }, 'of a run that is over');
      expect(await b.attach(null)).toEqual({
        epoch: 7,
        snapshot: { offset: 2, text: 'later' },
        changes: [{ offset: 3, text: 'three' }],
      });
    });

    it('are over when the last listener has left, and nothing can be added to them', async () => {
      const [a, b] = (await instances(2)) as [SharedChanges, SharedChanges];
      await a.attach(null);
      await a.begin(7, 'base');
      await a.leave();
      expect(await b.attach(null)).toBeNull();
      expect(await a.append(7, ['one'])).toBeNull();
      expect(await a.readAfter({ epoch: 7, offset: 0 })).toBeNull();
      expect((await b.heartbeat(null)).last).toBeNull();
    });

    it('do not begin anew for an instance that has been away, and comes back to its own epoch', async () => {
      const [a] = (await instances(1)) as [SharedChanges];
      await a.attach(null);
      await a.begin(7, 'base');
      await a.append(7, ['one']);
      expect(await a.attach({ epoch: 7, offset: 1 })).toEqual({ epoch: 7, snapshot: null, changes: [] });
    });

    it('have one instance that polls: the next when it leaves, and when it is not heard of any more', async () => {
      const [a, b, c] = (await instances(3)) as [SharedChanges, SharedChanges, SharedChanges];
      for (const one of [a, b, c]) await one.attach(null);
      expect((await a.heartbeat('pulse')).isLeader).toBe(true);
      expect(await b.heartbeat('not its own')).toEqual({ isLeader: false, last: null, progress: 'pulse' });
      await a.leave();
      expect((await b.heartbeat(null)).isLeader).toBe(true);
      // Its process was killed: the lease runs out.
      const expired = vi.waitFor(async () => expect((await c.heartbeat(null)).isLeader).toBe(true), 20_000);
      await expired;
      expect((await b.heartbeat(null)).isLeader).toBe(false);
    }, 30_000);

    it('ring at the others', async () => {
      const [a, b] = (await instances(2)) as [SharedChanges, SharedChanges];
      const ring = vi.fn();
      const unheard = vi.fn();
      b.onAppend(unheard)();
      b.onAppend(ring);
      await a.attach(null);
      await a.begin(7, 'base');
      await vi.waitFor(async () => {
        await a.append(7, ['one']);
        expect(ring).toHaveBeenCalled();
      });
      expect(unheard).not.toHaveBeenCalled();
    });

    it('throw StoreUnavailable when what is shared is gone', async () => {
      await using own = await start();
      const store = await own.open();
      const changes = store.changes('feed') as SharedChanges;
      await changes.attach(null);
      await own.close();
      await isUp(store, false);
      await expect(changes.begin(7, 'base')).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(changes.heartbeat(null)).rejects.toBeInstanceOf(StoreUnavailable);
      await changes.leave();
    });
  });
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SharedBodies } from '../../src/store/store.js';
import { type SharedStore, sharedStores } from '../support/shared-store.js';
import { bodyOf, seen, write } from './bodies.js';

const id = '/v1/sensors?limit=500';
const query = 0;
const feed = 1;

for (const { title, leftOut, start } of sharedStores) {
  if (leftOut) console.warn(`Bodies ${title}: ${leftOut}`);
  describe.skipIf(leftOut)(`bodies ${title}${leftOut ? ` (${leftOut})` : ''}`, () => {
    let shared: SharedStore;
    let names = 0;
    beforeAll(async () => {
      shared = await start();
    });
    afterAll(() => shared.close());

    async function two() {
      const name = `bodies ${names++}`;
      const stores = [await shared.open(), await shared.open()] as const;
      const [one, other] = stores.map((store) => store.bodies(name)) as [SharedBodies, SharedBodies];
      return { stores, one, other };
    }

    it('are there for another instance as upstream sent them, short or long', async () => {
      for (const text of ['{}', JSON.stringify(Array.from({ length: 5_000 }, (_, device) => ({ device })))]) {
        const { one, other } = await two();
        expect(await seen(one)).toBeNull();
        await write(one, { ...bodyOf(text), version: 'as listed' });
        await expect.poll(async () => (await seen(other))?.body?.toString()).toBe(text);
        expect((await seen(other))?.version).toBe('as listed');
        expect(await seen(other, '/v1/other')).toBeNull();
      }
    });

    it('can say that upstream has nothing there', async () => {
      const { one, other } = await two();
      await write(one, { ...bodyOf(''), body: null });
      await expect.poll(() => seen(other)).toMatchObject({ body: null });
    });

    it('that are over 4 MiB are not cached', async () => {
      const { one, other } = await two();
      await write(one, bodyOf('first'));
      const place = await one.open(id, query);
      place.write(bodyOf('x'.repeat(4 * 1024 * 1024 + 1)));
      place.release();
      await expect.poll(() => other.isClaimed(id, query)).toBe(false);
      expect((await seen(other))?.body?.toString()).toBe('first');
    });

    it('go all at once for all instances, with those that are on their way', async () => {
      const { one, other } = await two();
      await write(one, bodyOf('old'));
      await expect.poll(() => seen(other)).not.toBeNull();
      const onItsWay = await one.open(id, query);
      other.clear();
      await expect.poll(() => seen(one)).toBeNull();
      await write(other, bodyOf('new'));
      await expect.poll(async () => (await seen(one))?.body?.toString()).toBe('new');
      onItsWay.write(bodyOf('late'));
      onItsWay.release();
      // What is asked for on the same connection after it is answered after it.
      await write(one, { ...bodyOf('{}'), body: null }, '/v1/after');
      await expect.poll(() => seen(other, '/v1/after')).not.toBeNull();
      expect((await seen(one))?.body?.toString()).toBe('new');
    });

    it('can be forgotten one by one', async () => {
      const { one, other } = await two();
      await write(one, bodyOf('there'));
      await expect.poll(() => seen(other)).not.toBeNull();
      const place = await other.open(id, query);
      place.delete();
      place.release();
      await expect.poll(() => seen(one)).toBeNull();
    });

    it('are asked for by one instance at a time, unless another is more urgent', async () => {
      const { one, other } = await two();
      const polling = await one.open(id, feed);
      expect(polling.hasClaim).toBe(true);
      expect((await other.open(id, feed)).hasClaim).toBe(false);
      expect(await other.isClaimed(id, feed)).toBe(true);
      expect(await other.isClaimed(id, query)).toBe(false);
      const asking = await other.open(id, query);
      expect(asking.hasClaim).toBe(true);
      // It does not end what was begun by the other.
      polling.release();
      expect(await one.isClaimed(id, query)).toBe(true);
      asking.write(bodyOf('answer'));
      asking.release();
      await expect.poll(() => one.isClaimed(id, query)).toBe(false);
      expect((await seen(one))?.body?.toString()).toBe('answer');
    });

    it('are asked for by nobody besides, once they are on their way', async () => {
      const { one, other } = await two();
      const polling = await one.open(id, feed);
      polling.sending();
      await expect.poll(() => other.isClaimed(id, query)).toBe(true);
      expect((await other.open(id, query)).hasClaim).toBe(false);
      polling.release();
      await expect.poll(() => other.isClaimed(id, query)).toBe(false);
    });

    it('are not asked for any more by one that was killed', async () => {
      const { stores, one, other } = await two();
      const place = await one.open(id, query);
      expect(await other.isClaimed(id, query)).toBe(true);
      shared.kill(stores[0]);
      await expect.poll(() => other.isClaimed(id, query), { timeout: 15_000 }).toBe(false);
      place.release();
    });
  });
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.js';
import { type SharedStore, sharedStores } from '../support/shared-store.js';
import { listening } from './journals.js';

const journalOn = (store: Store, name: string) => listening(store.journal(name));

for (const { title, leftOut, start } of sharedStores) {
  if (leftOut) console.warn(`The journal ${title}: ${leftOut}`);
  describe.skipIf(leftOut)(`the journal ${title}${leftOut ? ` (${leftOut})` : ''}`, () => {
    let shared: SharedStore;
    let names = 0;
    const newName = () => `journal ${names++}`;
    beforeAll(async () => {
      shared = await start();
    });
    afterAll(() => shared.close());

    async function two() {
      const name = newName();
      const stores = [await shared.open(), await shared.open()] as const;
      return { name, stores, one: journalOn(stores[0], name), other: journalOn(stores[1], name) };
    }

    it('adds an entry only for a writer that has read all others, and reports the rest first', async () => {
      const { one, other } = await two();
      expect(await one.enter('a')).toBe('entered');
      expect(await other.enter('b')).toBe('behind');
      expect(other.read()).toEqual(['a']);
      expect(await other.enter('b')).toBe('entered');
      expect(await one.enter('c')).toBe('behind');
      expect(await one.enter('c')).toBe('entered');
      expect(one.read()).toEqual(['b']);
      expect(await other.enter('d')).toBe('behind');
      expect(other.read()).toEqual(['a', 'c']);
    });

    it('takes a burst of one instance whole, in the order it was asked for', async () => {
      const { one, other } = await two();
      const texts = Array.from({ length: 20 }, (_, index) => `${index}`);
      const entered = await Promise.all(texts.map((text) => one.enter(text)));
      expect(new Set(entered)).toEqual(new Set(['entered']));
      expect(await other.enter('late')).toBe('behind');
      expect(other.read()).toEqual(texts);
    });

    it('adds no entry that was requested before the entries of others were read', async () => {
      const { one, other } = await two();
      await one.enter('a');
      await other.enter('b');
      await one.enter('c');
      const first = other.enter('d');
      // The first is on its way, and reads `c`; the second was decided on without it.
      for (let turn = 0; turn < 3; turn++) await null;
      const second = other.enter('e');
      expect(await Promise.all([first, second])).toEqual(['behind', 'behind']);
      expect(await other.enter('d')).toBe('entered');
    });

    it('is read in the same order by all, however many enter at the same time', async () => {
      const name = newName();
      const all = await Promise.all(
        Array.from({ length: 5 }, async () => journalOn(await shared.open(), name)),
      );
      await Promise.all(
        all.map(async (one, index) => {
          for (let left = 20; left > 0; ) if ((await one.enter(`${index} ${left}`)) === 'entered') left--;
        }),
      );
      const late = journalOn(await shared.open(), name);
      await late.enter('last');
      expect(late.read()).toHaveLength(100);
      for (const [index, one] of all.entries()) {
        await one.enter('last');
        const others = late.read().filter((text) => !text.startsWith(`${index} `));
        expect(one.read().filter((text) => text !== 'last')).toEqual(others);
      }
    });

    it('adds a forced entry in any case, and reports the unread entries at the same time', async () => {
      const { one, other } = await two();
      await one.enter('a');
      other.journal.append('b');
      await expect.poll(() => other.read()).toEqual(['a']);
      expect(await one.enter('c')).toBe('behind');
      expect(one.read()).toEqual(['b']);
    });

    it('reports to a later reader how many were sent in all, and only the last minute one by one', async () => {
      const { name, stores, one } = await two();
      await one.enter('a');
      one.journal.append('many', { counts: 500 });
      one.journal.append('none');
      await one.enter('b');
      const late = journalOn(stores[1], name);
      expect(await late.enter('c')).toBe('behind');
      expect(late.counted()).toBe(502);
      // The next journal reads what the one before it had written at the same instance.
      const again = journalOn(stores[0], name);
      await again.enter('d');
      expect(again.read()).toEqual(['a', 'many', 'none', 'b']);
    });
  });
}

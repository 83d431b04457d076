import { describe, expect, it } from 'vitest';
import { longAgo } from '../../src/clock.js';
import { IssueTimeScan } from '../../src/unify/event/list/issue-time-scan.js';
import { eventShape } from '../../src/upstream/project/wire.js';
import { date, forward } from '../support/moments.js';

const moment = '2026-03-08T00:00:00Z';
const event = (id: string) => eventShape.parse({ id, issued_at: moment, magnitude: null, origin: null });

/** Pages of three out of one list, all issued in one moment. */
function scanOver(list: { ids: string[] }, beforeRead: (page: number) => void = () => {}) {
  const notBefore: number[] = [];
  let page = 0;
  const scan = new IssueTimeScan({
    order: 'desc',
    fromMs: longAgo,
    toMs: date(Date.parse(moment)),
    read: async ({ offset }, notBeforeMs) => {
      beforeRead(page);
      notBefore.push(notBeforeMs);
      const items = list.ids.slice(offset, offset + 3).map(event);
      return {
        value: { items, total: list.ids.length, received: items.length },
        readAtMs: forward(1000 + page++),
      };
    },
  });
  const readAll = async () => {
    const seen = new Set<string>();
    while (!scan.isDone) for (const { value } of await scan.next()) seen.add(value.id);
    return [...seen].sort();
  };
  return { readAll, notBefore };
}

describe('a scan of events that were issued in one moment', () => {
  it('reads them all, by offset', async () => {
    const { readAll } = scanOver({ ids: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] });
    expect(await readAll()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('begins again when one of them left its place, so that nobody slips past the offset', async () => {
    const list = { ids: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] };
    const { readAll } = scanOver(list, (page) => {
      if (page === 1) list.ids.splice(0, 2);
      if (page === 4) list.ids.splice(1, 1);
    });
    expect(await readAll()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('does not take a second page that is older than the first', async () => {
    const { readAll, notBefore } = scanOver({ ids: ['a', 'b', 'c', 'd'] });
    await readAll();
    expect(notBefore).toEqual([Number.NEGATIVE_INFINITY, 1000]);
  });

  it('begins again with responses of upstream, not with the cached ones that do not fit together', async () => {
    const list = { ids: ['a', 'b', 'c', 'd', 'e'] };
    const { readAll, notBefore } = scanOver(list, (page) => {
      if (page === 1) list.ids = ['c', 'a', 'b', 'd', 'e'];
    });
    expect(await readAll()).toEqual(['a', 'b', 'c', 'd', 'e']);
    // The second page was read at 1001.
    expect(notBefore).toEqual([Number.NEGATIVE_INFINITY, 1000, 1002, 1002]);
  });
});

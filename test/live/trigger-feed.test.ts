import { describe, expect, it } from 'vitest';
import { Follower, feedsOver, UpstreamModel } from './upstream-model.js';

const minute = 60_000;

function begin(settings = {}) {
  const upstream = new UpstreamModel();
  const feeds = feedsOver(upstream, { settings });
  const follow = (
    filter: Parameters<typeof feeds.triggerChanges>[0]['filter'] = null,
    after: string | null = null,
  ) => new Follower(feeds.triggerChanges({ filter, after }));
  return { upstream, clock: upstream.clock, feeds, follow };
}

describe('the trigger feed', () => {
  it('tells of a trigger that opens, changes and closes, each once', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(1_000);
    const trigger = upstream.add({ id: 7 });
    await clock.advance(5_000);
    trigger.pga = 4;
    await clock.advance(5_000);
    trigger.status = 'closed';
    trigger.pga = 5;
    await clock.advance(10 * minute);
    expect(follower.lines).toEqual(['OPENED 7', 'UPDATED 7', 'CLOSED 7']);
    expect(follower.got.at(-1)?.pga).toBe(5);
  });

  it('says nothing of what was there before, and follows what was open then', async () => {
    const { upstream, clock, follow } = begin();
    upstream.add({ id: 1, startMs: clock.now() - minute, status: 'closed' });
    const open = upstream.add({ id: 2, startMs: clock.now() - minute });
    const follower = follow();
    await clock.advance(minute);
    expect(follower.lines).toEqual([]);
    open.status = 'closed';
    await clock.advance(5_000);
    expect(follower.lines).toEqual(['CLOSED 2']);
  });

  it('finds a trigger that becomes visible late, within two intervals', async () => {
    const { upstream, clock, follow } = begin();
    const follower = follow();
    await clock.advance(1_000);
    upstream.add({ id: 502, startMs: clock.now() - 10_000, status: 'closed' });
    await clock.advance(5_000);
    upstream.add({ id: 501, startMs: clock.now() - 599_000, status: 'closed' });
    await clock.advance(10_000);
    expect(follower.lines).toEqual(['CLOSED 502', 'CLOSED 501']);
  });

  it('finds a trigger that is hours late by a sweep', async () => {
    const { upstream, clock, follow } = begin();
    upstream.add({ id: 1, startMs: clock.now() - minute, status: 'closed' });
    const follower = follow();
    await clock.advance(1_000);
    upstream.add({ id: 2, startMs: clock.now() - 5 * 60 * minute, status: 'closed' });
    await clock.advance(6 * minute);
    expect(follower.lines).toEqual(['CLOSED 2']);
  });
});

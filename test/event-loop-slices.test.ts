import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Slices } from '../src/event-loop-slices.js';

describe('work in slices', () => {
  it('goes on at once as long as a slice has room for it', async () => {
    const slices = new Slices(10);
    expect(slices.take(6, {})).toBeNull();
    expect(slices.take(4, {})).toBeNull();
    expect(slices.take(1, {})).toBeInstanceOf(Promise);
    await nextIteration();
    await nextIteration();
    expect(slices.take(10, {})).toBeNull();
  });

  it('that is larger than any slice has one for itself', async () => {
    const slices = new Slices(10);
    expect(slices.take(50, {})).toBeNull();
    await slices.take(50, {});
    expect(slices.take(1, {})).toBeInstanceOf(Promise);
  });

  it('is done in turns by those who wait, each in its own order', async () => {
    const slices = new Slices(10);
    const done: string[] = [];
    const [one, other] = [{}, {}];
    slices.take(10, one);
    await Promise.all(
      [
        ['one 1', one],
        ['one 2', one],
        ['one 3', one],
        ['other 1', other],
        ['other 2', other],
      ].map(([name, whose]) => slices.take(10, whose as object)?.then(() => done.push(name as string))),
    );
    expect(done).toEqual(['one 1', 'other 1', 'one 2', 'other 2', 'one 3']);
  });
});

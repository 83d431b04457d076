import { describe, expect, it } from 'vitest';
import { freezeAndMeasure } from '../../src/upstream/cache/freeze.js';

describe('a decoded answer', () => {
  it('is frozen through and through, but for lists of numbers', () => {
    const value = { place: { name: 'A' }, picks: [{ code: 'B' }], samples: [1, 2, 3] };
    freezeAndMeasure(value);
    for (const part of [value, value.place, value.picks, value.picks[0]]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(Object.isFrozen(value.samples)).toBe(false);
  });

  it('keeps a text that repeats once, and counts it once', () => {
    const place = (name: string) => ({ name });
    const bytesOf = (names: readonly string[]) => freezeAndMeasure(names.map(place));
    const one = '6 km north-north-west of Testville';
    const other = '7 km north-north-west of Testville';
    const own = bytesOf([one, other]) - bytesOf([one, one]);
    expect(own).toBe(24 + other.length);
    const repeated = [place(one), place(`${one}`)];
    freezeAndMeasure(repeated);
    expect(repeated).toEqual([{ name: one }, { name: one }]);
  });
});

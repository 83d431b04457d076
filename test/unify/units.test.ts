import { describe, expect, it } from 'vitest';
import { accelerationIn, velocityIn } from '../../src/unify/trigger/units.js';
import { MalformedValue } from '../../src/upstream/decode/fields.js';

describe('peaks in other units', () => {
  it.each([
    ['MG', 1000, 1000],
    ['PERCENT_G', 1000, 100],
    ['M_PER_S2', 1000, 9.80665],
    ['GAL', 1000, 980.665],
    ['PERCENT_G', 3, 0.3],
    ['GAL', -2, -1.96133],
  ] as const)('in %s, %d mg are %d', (unit, mg, expected) => {
    expect(accelerationIn(unit, mg)).toBe(expected);
  });

  it.each([
    ['MM_PER_S', 3, 3],
    ['CM_PER_S', 3, 0.3],
    ['M_PER_S', 3, 0.003],
  ] as const)('in %s, %d mm/s are %d', (unit, mmPerS, expected) => {
    expect(velocityIn(unit, mmPerS)).toBe(expected);
  });

  it('leave what is missing or malformed as it is', () => {
    const malformed = new MalformedValue('x');
    expect(accelerationIn('GAL', null)).toBeNull();
    expect(velocityIn('CM_PER_S', malformed)).toBe(malformed);
  });
});

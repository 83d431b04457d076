import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/upstream/decode/json.js';

describe('JSON of an answer', () => {
  it('keeps all digits of integers that a double cannot hold, as text', () => {
    const text =
      '{"id":9007199254740993,"next":-9007199254740995, "same":[ 9007199254740991 ,12345678901234567890]}';
    expect(parseJson(text)).toEqual({
      id: '9007199254740993',
      next: '-9007199254740995',
      same: [9007199254740991, '12345678901234567890'],
    });
  });

  it('leaves fractions, powers and the insides of strings as they are', () => {
    const text =
      '{"f":0.12345678901234567,"g":1234567890123456789.5,"e":1234567890123456789e3,"s":"\\"9007199254740993, 9007199254740993"}';
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('is what JSON.parse makes of it, wherever that loses nothing', () => {
    fc.assert(
      fc.property(fc.json(), fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }), (json, id) => {
        const text = `{"id":${id},"digits":"${id}000000","value":${json}}`;
        const isLost = (part: string) => /^-?\d+$/.test(part) && !Number.isSafeInteger(Number(part));
        fc.pre(!(json.match(/-?[\d.eE+-]+/g) ?? []).some(isLost));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});

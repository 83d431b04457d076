import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asMoment } from '../../src/clock.js';
import { Instant } from '../../src/unify/time/instant.js';

const written = (text: string) => Instant.parse(text)?.toString() ?? null;

describe('Instant', () => {
  it.each([
    ['2026-03-08T10:00:21.423157Z', '2026-03-08T10:00:21.423157Z'],
    ['2026-03-08T10:00:21.1234567891Z', '2026-03-08T10:00:21.1234567891Z'],
    ['2026-03-08T10:00:21Z', '2026-03-08T10:00:21Z'],
    ['2026-03-08T10:00:21.5Z', '2026-03-08T10:00:21.500Z'],
    ['2026-03-08T10:00:21.000Z', '2026-03-08T10:00:21.000Z'],
    ['2026-03-08T10:00:21.423150Z', '2026-03-08T10:00:21.423150Z'],
    ['2026-03-08', '2026-03-08T00:00:00Z'],
    ['2026-03-08T10:00:21+05:45', '2026-03-08T04:15:21Z'],
    ['2026-03-08t10:00:21z', '2026-03-08T10:00:21Z'],
    ['2026-03-08T10:00:21', '2026-03-08T10:00:21Z'],
    ['2016-12-31T23:59:60.25Z', '2016-12-31T23:59:60.250Z'],
    ['2017-01-01T00:59:60+01:00', '2016-12-31T23:59:60Z'],
    ['1965-01-01T00:00:00.75Z', '1965-01-01T00:00:00.750Z'],
  ])('reads %s as %s', (text, expected) => {
    expect(written(text)).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-03-08T24:00:01Z',
    '2026-03-08T10:00:60Z',
    '17672256',
  ])('refuses %j', (text) => {
    expect(Instant.parse(text)).toBeNull();
  });

  it('reads Unix seconds with the digits of the JSON number', () => {
    expect(Instant.fromUnixSeconds(asMoment(1767225600))?.toString()).toBe('2026-01-01T00:00:00Z');
    expect(Instant.fromUnixSeconds(asMoment(1767225600.4231))?.toString()).toBe('2026-01-01T00:00:00.4231Z');
    expect(Instant.fromUnixSeconds(asMoment(1767225600.423157))?.toString()).toBe(
      '2026-01-01T00:00:00.423157Z',
    );
    expect(Instant.fromUnixSeconds(asMoment(-1.25))?.toString()).toBe('1969-12-31T23:59:58.750Z');
    expect(Instant.fromUnixSeconds(asMoment(-2))?.toString()).toBe('1969-12-31T23:59:58Z');
    expect(Instant.fromUnixSeconds(asMoment(0))?.toString()).toBe('1970-01-01T00:00:00Z');
    expect(Instant.fromUnixSeconds(asMoment(Number.NaN))).toBeNull();
  });

  it('orders a leap second between its neighbours', () => {
    const order = [
      '2016-12-31T23:59:59.9Z',
      '2016-12-31T23:59:60Z',
      '2016-12-31T23:59:60.5Z',
      '2017-01-01T00:00:00Z',
    ];
    const sorted = [...order].reverse().sort((a, b) => instant(a).compare(instant(b)));
    expect(sorted).toEqual(order);
  });

  it('compares every digit', () => {
    const digits = fc.stringMatching(/^\d{1,12}$/);
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 4e9 }), digits, digits, (unixS, a, b) => {
        const base = new Date(unixS * 1000).toISOString().slice(0, 19);
        const [first, second] = [instant(`${base}.${a}Z`), instant(`${base}.${b}Z`)];
        const expected = Math.sign(Number(BigInt(a.padEnd(12, '0')) - BigInt(b.padEnd(12, '0'))));
        expect(first.compare(second)).toBe(expected);
        expect(instant(first.toString()).compare(first)).toBe(0);
      }),
    );
  });

  it('moves by milliseconds and back without losing a digit', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 4e9 }), fc.integer({ min: -1e9, max: 1e9 }), (unixS, ms) => {
        const start = instant(`${new Date(unixS * 1000).toISOString().slice(0, 19)}.123456789Z`);
        expect(start.plusMs(ms).plusMs(-ms).compare(start)).toBe(0);
        expect(start.plusMs(ms).ms - start.ms).toBeCloseTo(ms, 2);
      }),
    );
  });
});

function instant(text: string): Instant {
  const parsed = Instant.parse(text);
  if (!parsed) throw new Error(`not a time: ${text}`);
  return parsed;
}

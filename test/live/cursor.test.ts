import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, longAgo, plus } from '../../src/clock.js';
import { CursorExpired, CursorInvalid } from '../../src/errors.js';
import { Cursors, type FullPosition, idNumber } from '../../src/live/tracking/cursor/cursor.js';
import { positionOf } from '../../src/live/tracking/cursor/known-set.js';
import { date } from '../support/moments.js';

const cursorsOf = (name: string, allEnd = true) => new Cursors({ name, allEnd });
const number = fc.oneof(
  fc.nat(5_000),
  fc.maxSafeNat().map((id) => idNumber(String(id))),
);
const timeMs = fc.integer({ min: 0, max: 4e12 }).map(date);
const position: fc.Arbitrary<FullPosition> = fc.record({
  logged: fc.option(fc.record({ epoch: fc.integer({ min: 1, max: 2 ** 32 - 1 }), offset: fc.nat(1e9) }), {
    nil: null,
  }),
  timeUs: timeMs.map((ms) => ms * 1000),
  lastNumber: number,
  horizonMs: timeMs,
  oldestOpenMs: timeMs,
  known: fc
    .array(fc.tuple(number, fc.option(fc.nat(65_534), { nil: null })))
    .map((entries) => new Map(entries)),
  older: fc.constant(new Map()),
});

describe('a cursor of a feed', () => {
  it('holds its position', () => {
    fc.assert(
      fc.property(position, (given) => {
        const cursors = cursorsOf('triggerChanges ');
        const { older, ...expected } = given;
        expect(cursors.decode(cursors.encode(given))).toEqual({ ...expected, rest: null });
      }),
    );
  });

  it.each([
    ['every number is of this key', 1, 400],
    ['other keys have every second number', 2, 500],
  ])('is small where %s, after a day of 700 triggers', (_, step, mostBytes) => {
    const known = new Map(
      Array.from({ length: 700 }, (_, i) => [3_000_000_000 + step * i, i % 50 ? null : 7]),
    );
    const now = date(1_767_225_600_000);
    const given = {
      logged: { epoch: 7, offset: 700 },
      timeUs: now * 1000,
      lastNumber: 3_000_000_700,
      horizonMs: plus(now, -dayMs),
      oldestOpenMs: now,
      known,
      older: new Map(),
    };
    expect(cursorsOf('triggerChanges ').encode(given).length).toBeLessThan(mostBytes);
  });

  it.each([3, 80, 500])('stays short and whole when %i records with names are added to it', (count) => {
    const cursors = cursorsOf('eventChanges ', false);
    const now = date(1_767_225_600_000);
    const known = new Map(Array.from({ length: 1_000 }, (_, i) => [idNumber(`event-${i}`), i]));
    const full = {
      logged: null,
      timeUs: now * 1000,
      lastNumber: 1,
      horizonMs: plus(now, -dayMs),
      oldestOpenMs: now,
    };
    const position = cursors.decode(cursors.encode({ ...full, known, older: new Map() }));
    const added = new Map(Array.from({ length: count }, (_, i) => [idNumber(`added-${i}`), i]));
    const cursor = cursors.encodeWith(position, added);
    expect(cursor.length).toBeLessThanOrEqual(1_000);
    const decoded = cursors.decode(cursor);
    expect([...position.known.keys()].filter((id) => !decoded.known.has(id))).toEqual([]);
    expect(decoded.rest?.length).toBeGreaterThan(30);
    if (count === 3) expect([...added.keys()].filter((id) => !decoded.known.has(id))).toEqual([]);
  });

  it('is refused when it is of another feed, of another key, or changed', () => {
    fc.assert(
      fc.property(position, fc.nat(), (given, at) => {
        const a = cursorsOf('triggerChanges a');
        const cursor = a.encode(given);
        expect(() => cursorsOf('eventChanges a').decode(cursor)).toThrow(CursorInvalid);
        expect(() => cursorsOf('triggerChanges b').decode(cursor)).toThrow(CursorInvalid);
        const bytes = Buffer.from(cursor, 'base64url');
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 1;
        expect(() => a.decode(bytes.toString('base64url'))).toThrow(CursorInvalid);
      }),
    );
  });

  it('is refused when it is anything else', () => {
    const other = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
    );
    fc.assert(
      fc.property(other, (text) => {
        expect(() => cursorsOf('triggerChanges ').decode(text)).toThrow(CursorInvalid);
      }),
    );
  });

  it('has expired when an earlier version made it', () => {
    // Triggers 41 to 43, the last one open.
    const earlier = 'tE-ZbQcAAAC8BYDQ6ra3M4DwslIAAVMCASsHADFHZ1g';
    expect(() => cursorsOf('triggerChanges ').decode(earlier)).toThrow(CursorExpired);
  });
});

describe('what a cursor takes for known', () => {
  const day = 86_400_000;
  // Times with digits below the millisecond, dense and sparse, over more than a day.
  const record = fc.record({
    timeMs: fc.oneof(
      fc.double({ min: 0, max: 3, noNaN: true }).map((ms) => date(5 * day - ms)),
      fc.double({ min: 0, max: 2 * day, noNaN: true }).map((ms) => date(5 * day - ms)),
    ),
    state: fc.option(fc.nat(65_535), { nil: null }),
  });

  it('is all that was known and nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 60 }),
        fc.nat(60),
        fc.boolean(),
        (drawn, unknownCount, isAll) => {
          const records = drawn
            .sort((a, b) => a.timeMs - b.timeMs)
            .map(({ timeMs, state }, number) => ({
              number,
              state: { timeMs },
              known: state as number | null,
            }));
          // The newest are not known, as in the middle of a replay.
          const unknown = new Set(records.slice(records.length - (unknownCount % (records.length + 1))));
          const completeFromMs = isAll ? longAgo : plus(records[0]?.state.timeMs ?? date(0), 0.001);
          const { known, older, horizonMs } = positionOf({
            records,
            stateOf: (one) => (unknown.has(one) ? undefined : one.known),
            completeFromMs,
            last: records.length - 1,
            unfinished: records,
            nowMs: records[0]?.state.timeMs ?? date(0),
          });
          const taken = new Map([...older, ...known]);
          for (const one of records) {
            const received = taken.get(one.number);
            if (unknown.has(one)) {
              expect(received).toBeUndefined();
              // What came this late is not looked for; and where the snapshot is not complete nothing is known to be new.
              if (one.state.timeMs >= completeFromMs + 1)
                expect(one.state.timeMs).toBeGreaterThanOrEqual(horizonMs);
            } else if (received === undefined) {
              expect(one.known).toBeNull();
              expect(one.state.timeMs).toBeLessThan(horizonMs);
            } else {
              expect(received).toBe(one.known);
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

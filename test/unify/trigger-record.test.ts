import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamUnavailable } from '../../src/errors.js';
import { Instant } from '../../src/unify/time/instant.js';
import {
  compareTriggers,
  durationS,
  parseTriggerKey,
  triggerKey,
  triggerOf,
} from '../../src/unify/trigger/record.js';
import { asId } from '../../src/upstream/decode/fields.js';
import { triggerShape } from '../../src/upstream/project/wire.js';
import { forward } from '../support/moments.js';

const wire = (fields: object) =>
  triggerShape.parse({ id: 1, device_id: 'A', start_time: '2026-03-08T12:00:00Z', ...fields });
const durationOf = (start_time: string, end_time: unknown) =>
  durationS(triggerOf(wire({ start_time, end_time }), forward(0)));

describe('the duration of a trigger', () => {
  it.each([
    ['2026-03-08T12:00:00.123456Z', '2026-03-08T12:00:30.654321Z', 30.530865],
    ['2026-03-08T12:00:00.9Z', '2026-03-08T12:00:01.1Z', 0.2],
    ['2026-03-08T12:00:00Z', '2026-03-08T12:00:00Z', 0],
    ['2016-12-31T23:59:59Z', '2016-12-31T23:59:60.5Z', 1.5],
    ['2026-03-08T12:00:10Z', '2026-03-08T12:00:00Z', -10],
  ])('from %s to %s is %d seconds', (start, end, seconds) => {
    expect(durationOf(start, end)).toBe(seconds);
  });

  it('is null while there is no end, and an error when the end is no time', () => {
    expect(durationOf('2026-03-08T12:00:00Z', null)).toBeNull();
    expect(durationOf('2026-03-08T12:00:00Z', 'later')).toBeInstanceOf(Error);
  });
});

describe('the key of a trigger', () => {
  it('leads back to what it was made of, whatever upstream writes as ids', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'binary' }),
        fc.string({ minLength: 1, unit: 'grapheme' }),
        fc.constantFrom('', '.5', '.123456', '.100000001'),
        (triggerId, deviceId, digits) => {
          const startTime = Instant.parse(`2026-03-08T12:00:00${digits}Z`);
          if (!startTime) throw new Error('not a time');
          const parsed = parseTriggerKey(
            triggerKey({ triggerId: asId(triggerId), deviceId: asId(deviceId), startTime }),
          );
          expect(parsed).toMatchObject({ triggerId, deviceId });
          expect(parsed?.startTime.compare(startTime)).toBe(0);
        },
      ),
    );
  });

  it('is the same however upstream writes the same time', () => {
    const keys = ['12:00:10Z', '12:00:10.000Z', '12:00:10.000000Z', '14:00:10.0+02:00'].map(
      (time) => triggerOf(wire({ start_time: `2026-03-08T${time}` }), forward(0)).key,
    );
    expect(new Set(keys)).toEqual(new Set(['1:A:2026-03-08T12:00:10Z']));
  });

  it.each([
    '',
    '1',
    '1:A',
    '1:A:noon',
    ':A:2026-03-08T12:00:00Z',
    '1:A:2026-03-08T12:00:00.000Z',
    '%:A:2026-03-08T12:00:00Z',
  ])('is none in %j', (text) => {
    expect(parseTriggerKey(text)).toBeNull();
  });
});

describe('triggers', () => {
  it('of one moment are in the order of their ids as numbers, others behind', () => {
    const triggers = ['b', '10', '9', '1e3', 'a', '100', '-1'].map((id) =>
      triggerOf(wire({ id }), forward(0)),
    );
    expect(triggers.sort(compareTriggers).map(({ triggerId }) => triggerId)).toEqual([
      '-1',
      '9',
      '10',
      '100',
      '1e3',
      'a',
      'b',
    ]);
  });

  it('without a readable start have no place in time', () => {
    const noon = { ...wire({}), start_time: 'noon' };
    expect(() => triggerOf(noon, forward(0))).toThrow(UpstreamUnavailable);
    expect(() => wire({ start_time: 'noon' })).toThrow();
  });
});

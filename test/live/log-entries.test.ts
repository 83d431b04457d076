import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asMoment, plus } from '../../src/clock.js';
import { LogEntries } from '../../src/live/cluster/log-entries.js';
import { eventSubject, ofCatalogue, ofProject } from '../../src/live/feeds/event/subject.js';
import { triggerSubject } from '../../src/live/feeds/trigger/subject.js';
import type { SharedChanges } from '../../src/store/store.js';
import { mergeEvent } from '../../src/unify/event/merge.js';
import { Instant } from '../../src/unify/time/instant.js';
import { triggerOf } from '../../src/unify/trigger/record.js';
import { eventShape as catalogueEvent } from '../../src/upstream/catalogue/wire.js';
import { MalformedValue } from '../../src/upstream/decode/fields.js';
import { eventShape, triggerShape } from '../../src/upstream/project/wire.js';
import { forward } from '../support/moments.js';

// Three instances' clocks: this one's, the shared one, and another's, which is an hour off.
const here = aheadBy(5_000);
const there = aheadBy(-3_600_000);
const readAtMs = forward(Date.UTC(2026, 0, 1));

const anything = fc.oneof(fc.constant(null), fc.string(), fc.double(), fc.boolean(), fc.constant(['a list']));

describe('what instances write to each other', () => {
  it('is a trigger with all its values, malformed ones too, read when it was read', () => {
    const wire = fc.record({
      id: fc.nat(),
      device_id: fc.constant('001A2B3C4D5E'),
      station: anything,
      start_time: fc.constantFrom('2026-01-01T00:00:00.1234567Z', '2016-12-31T23:59:60.5Z', '2026-01-01'),
      end_time: anything,
      status: anything,
      pga_horizontal_mg: anything,
      peak_hz: anything,
    });
    fc.assert(
      fc.property(wire, (record) => {
        const trigger = triggerOf(triggerShape.parse(record), readAtMs);
        const text = new LogEntries(triggerSubject, here).ofChange({
          record: trigger,
          observedAtMs: readAtMs,
          isLate: false,
        });
        const { record: received, observedAtMs } = new LogEntries(triggerSubject, there).changeOf(text) ?? {};
        expect(observedAtMs).toBe(readAtMs + 5_000 + 3_600_000);
        expect(received?.readAtMs).toBe(readAtMs + 5_000 + 3_600_000);
        if (!received) return;
        expect(shown({ ...received, readAtMs: null })).toEqual(shown({ ...trigger, readAtMs: null }));
        expect(received.startTime.compare(trigger.startTime)).toBe(0);
        expect(triggerSubject.fingerprintOf(received)).toBe(triggerSubject.fingerprintOf(trigger));
      }),
    );
  });

  it('is an event with what the other interface knows of it', () => {
    const project = eventShape.parse({
      id: 'eq1',
      issued_at: '2026-01-01T00:00:00.25Z',
      magnitude: 'not a number',
      origin: { latitude: 1, longitude: 2, depth: 3, origin_time: 1_767_225_600.123_4 },
      pick_stations: ['ONE', 7],
    });
    const catalogue = catalogueEvent.parse({
      id: 'cat1',
      origin_time: '2026-01-01T00:00:00Z',
      latitude: 1.1,
      longitude: 2.1,
      magnitude: 4.5,
      magnitude_type: 'mw',
      location_description: 'Somewhere',
    });
    const reads = {
      project: { value: project, readAtMs },
      catalogue: { value: catalogue, readAtMs: plus(readAtMs, 1) },
    };
    const alone = ofProject(reads.project);
    const both = alone && { ...alone, event: mergeEvent(reads.project, reads.catalogue) };
    for (const [source, record] of [
      ['PROJECT', alone],
      ['PROJECT', both],
      ['CATALOGUE', ofCatalogue(reads.catalogue)],
    ] as const) {
      const subject = eventSubject(source);
      if (!record) throw new Error('not an event');
      const text = new LogEntries(subject, here).ofChange({ record, observedAtMs: readAtMs, isLate: false });
      const received = new LogEntries(subject, here).changeOf(text)?.record;
      expect(shown(received)).toEqual(shown(record));
      expect(received?.event.magnitude).toEqual(record.event.magnitude);
      expect(received?.event.place).toEqual(record.event.place);
      expect(received && subject.fingerprintOf(received)).toBe(subject.fingerprintOf(record));
    }
  });
});

function aheadBy(ms: number): SharedChanges['time'] {
  return {
    toShared: (localMs) => asMoment(localMs + ms),
    toLocal: (sharedMs) => asMoment(sharedMs - ms),
  };
}

/** As clients would see it: an instant has one text however many zeros it was written with. */
function shown(value: unknown): unknown {
  // JSON has no negative zero.
  if (value === 0) return 0;
  if (value instanceof Instant) return value.toString();
  if (value instanceof MalformedValue) return `malformed: ${value.message}`;
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value)
    ? value.map(shown)
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]));
}

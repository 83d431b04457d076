import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CursorExpired } from '../../src/errors.js';
import { EventFollower, EventModel, type ModelEvent, stateOf } from './event-model.js';
import { SharedModel } from './shared-model.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
// Characters, so that a request with the cursor is good by GET.
const longest = 1_000;

type Return =
  | 'to the log'
  | 'when the feed has stopped'
  | 'after a restart'
  | 'at another instance'
  | 'at another instance, partitioned';

/** A day of events, and what happens between a cursor and the resume. */
interface Day {
  readonly counts: readonly number[];
  readonly isOneMoment: boolean;
  readonly revisedBefore: number;
  readonly returns: Return;
  /** Changes of the day that the client no longer took. */
  readonly untaken: number;
  readonly revisedInPlace: number;
  readonly revisedLater: number;
  readonly late: number;
  readonly located: number;
  readonly added: number;
  readonly thenMs: number;
}

const day: fc.Arbitrary<Day> = fc.record({
  counts: fc.array(fc.constantFrom(1, 30, 200), { minLength: 1, maxLength: 3 }),
  isOneMoment: fc.boolean(),
  revisedBefore: fc.nat(20),
  returns: fc.constantFrom<Return[]>(
    'to the log',
    'when the feed has stopped',
    'after a restart',
    'at another instance',
    'at another instance, partitioned',
  ),
  untaken: fc.nat(15),
  revisedInPlace: fc.nat(12),
  revisedLater: fc.nat(12),
  late: fc.nat(8),
  located: fc.nat(4),
  added: fc.constantFrom(0, 3, 300),
  thenMs: fc.constantFrom(0, 40 * second, 20 * minute),
});

const thousands: Day = {
  counts: [1_500, 1_500],
  isOneMoment: false,
  revisedBefore: 100,
  returns: 'after a restart',
  untaken: 15,
  revisedInPlace: 12,
  revisedLater: 12,
  late: 8,
  located: 4,
  added: 700,
  thenMs: 5 * hour,
};

async function play(given: Day) {
  const { returns } = given;
  const model = new EventModel();
  const { clock } = model;
  const shared = new SharedModel(clock);
  const links = [shared.link(), shared.link()] as const;
  const isShared = returns === 'at another instance' || returns === 'at another instance, partitioned';
  const feeds = model.feeds(isShared ? links[0] : null);
  const other = isShared ? model.feeds(links[1]) : feeds;
  const baseline = Array.from({ length: 5 }, (_, i) =>
    model.add({ id: `before${i}`, issuedMs: clock.wallMs() - minute }),
  );
  const first = new EventFollower(feeds);
  const others = returns === 'to the log' || isShared ? [new EventFollower(other)] : [];
  await clock.advance(20 * second);
  let next = 0;
  for (const count of given.counts) {
    for (let i = 0; i < count; i++) {
      // In no order of their ids, and some of them not located yet.
      const issuedMs = clock.wallMs() - (given.isOneMoment ? 0 : (next * 7_919) % 9_000);
      model.add({ id: `e${(next++ * 7_919) % 10_007}`, issuedMs, isLocated: next % 97 !== 0 });
    }
    await clock.advance(5 * minute);
  }
  const revise = (events: readonly ModelEvent[], magnitude: number, isMoved: boolean) => {
    for (const [i, event] of events.entries()) {
      Object.assign(event, { magnitude }, isMoved && { issuedMs: clock.wallMs() + i });
    }
  };
  const shown = () => model.events.filter(({ isLocated }) => isLocated);
  revise(shown().slice(5, 5 + given.revisedBefore / 2), 4, false);
  revise(shown().slice(-given.revisedBefore / 2 - 1, -1), 4, true);
  await clock.advance(11 * minute);

  const taken = first.got.slice(0, Math.max(1, first.got.length - given.untaken));
  first.leave();
  if (returns === 'when the feed has stopped') await clock.advance(minute);
  if (returns === 'after a restart') feeds.close();
  if (returns === 'at another instance, partitioned') for (const link of links) link.setUp(false);
  revise(shown().slice(0, given.revisedInPlace), 5, false);
  revise(shown().slice(-given.revisedLater - 1, -1), 5.1, true);
  for (let i = 0; i < given.late; i++) {
    model.add({ id: `late${i}`, issuedMs: clock.wallMs() - (3 + i) * minute });
  }
  for (const event of model.events.filter(({ isLocated }) => !isLocated).slice(0, given.located)) {
    event.isLocated = true;
  }
  for (let i = 0; i < given.added; i++) model.add({ id: `new${i}`, issuedMs: clock.wallMs() + i });
  await clock.advance(given.thenMs + second);

  const target = returns === 'after a restart' ? model.feeds() : isShared ? other : feeds;
  const resumed = new EventFollower(target, taken.at(-1)?.cursor);
  await clock.advance(10 * minute);
  for (const follower of others) follower.leave();
  for (const one of [feeds, other, target]) one.close();
  await clock.advance(0);
  return { events: shown(), baseline, taken, resumed };
}

async function playAndCheck(given: Day): Promise<void> {
  const { events, baseline, taken, resumed } = await play(given);
  expect(resumed.error).toBeNull();
  const got = [...taken, ...resumed.got];
  for (const event of events) {
    const history = got.filter(({ id }) => id === event.id);
    const isOld = baseline.includes(event);
    const kinds = history.map(({ kind }) => kind).join(' ');
    expect(kinds, event.id).toMatch(isOld ? /^(REISSUED ?)*$/ : /^ISSUED( REISSUED)*$/);
    const states = history.map(({ state }) => state);
    if (!isOld || states.length > 0) expect(states.at(-1), event.id).toBe(stateOf(event));
    expect(new Set(states).size, `${event.id}: ${states}`).toBe(states.length);
  }
  for (const { cursor } of got) expect(cursor.length).toBeLessThanOrEqual(longest);
}

describe('a cursor of eventChanges', () => {
  it('is short whatever happened that day, and resumes with nothing lost and nothing twice', async () => {
    await fc.assert(fc.asyncProperty(day, playAndCheck), { numRuns: 12, examples: [[thousands]] });
  }, 300_000);

  it('delivers the first location of an event that was listed before as issued, once', async () => {
    const model = new EventModel();
    const feeds = model.feeds();
    const first = new EventFollower(feeds);
    await model.clock.advance(minute);
    const unlocated = model.add({ id: 'unlocated', isLocated: false });
    model.add({ id: 'located' });
    await model.clock.advance(minute);
    feeds.close();
    unlocated.isLocated = true;
    const next = model.feeds();
    const resumed = new EventFollower(next, first.got.at(-1)?.cursor);
    await model.clock.advance(minute);
    expect([first.lines, resumed.lines]).toEqual([['ISSUED located'], ['ISSUED unlocated']]);
    unlocated.magnitude = 5;
    await model.clock.advance(minute);
    expect(resumed.lines).toEqual(['ISSUED unlocated', 'REISSUED unlocated']);
    next.close();
  });

  it('has expired when more of what it stands for has changed than its sums can name', async () => {
    const { resumed } = await play({ ...thousands, counts: [400], revisedInPlace: 200 });
    expect(resumed.error).toBeInstanceOf(CursorExpired);
    expect(resumed.got).toEqual([]);
  }, 60_000);
});

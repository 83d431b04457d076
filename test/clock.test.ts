import { expect, it } from 'vitest';
import {
  asMoment,
  type Clock,
  ceilTo,
  type DurationMs,
  earliest,
  type ForwardMs,
  floorTo,
  forever,
  latest,
  longAgo,
  ManualClock,
  momentAt,
  msOf,
  plus,
  realClock,
  type UnixMs,
  type UnixS,
} from '../src/clock.js';
import type { SharedMs } from '../src/store/shared-time.js';
import { Instant } from '../src/unify/time/instant.js';
import type { Read } from '../src/upstream/read/read.js';

/** `npm run types` fails where one of these lines compiles: what it expects is then no error. */
function mixUps(clock: Clock, dateMs: UnixMs, dateS: UnixS, sharedMs: SharedMs, lengthMs: DurationMs) {
  const atMs = clock.now();
  // @ts-expect-error a date is no moment of the forward clock
  const read: Read<null> = { value: null, readAtMs: dateMs };
  // @ts-expect-error nor is a moment of the forward clock a date
  Instant.fromMs(atMs);
  // @ts-expect-error seconds are not milliseconds
  Instant.fromMs(dateS);
  // @ts-expect-error milliseconds are not seconds
  Instant.fromUnixSeconds(dateMs);
  // @ts-expect-error milliseconds cannot be added to seconds
  plus(dateS, lengthMs);
  // @ts-expect-error a duration is no moment
  clock.wallMs(lengthMs);
  // @ts-expect-error nor is what is left of two
  clock.wallMs(atMs - atMs);
  // @ts-expect-error a moment is no duration
  clock.timer(atMs, () => {});
  // @ts-expect-error moments are not added to each other
  plus(atMs, atMs);
  // @ts-expect-error the clock that instances share is neither
  clock.wallMs(sharedMs);
  // @ts-expect-error moments on two clocks have no earliest
  const first: ForwardMs = earliest(atMs, dateMs);
  return [read, first];
}

it('lets no moment pass for one on another clock, nor for a duration', () => {
  expect(mixUps).toBeInstanceOf(Function);
  const always: readonly [ForwardMs, UnixMs] = [longAgo, longAgo];
  const never: readonly [ForwardMs, UnixMs] = [forever, forever];
  expect([...always, ...never]).toEqual([-Infinity, -Infinity, Infinity, Infinity]);
});

it('computes moments', () => {
  const atMs: UnixMs = asMoment(1_500);
  expect(plus(atMs, -500)).toBe(1_000);
  expect([floorTo(1_000, atMs), ceilTo(1_000, atMs)]).toEqual([1_000, 2_000]);
  expect([earliest(atMs, longAgo), latest(atMs, plus(atMs, 1))]).toEqual([-Infinity, 1_501]);
  expect(msOf(asMoment(1.5))).toBe(1_500);
});

it.each([
  ['of the machine', realClock],
  ['of a test', new ManualClock()],
])('finds the moment of a date on the clock %s', (_, clock) => {
  const atMs = plus(clock.now(), -12_345);
  expect(Math.abs(momentAt(clock, clock.wallMs(atMs)) - atMs)).toBeLessThan(100);
});

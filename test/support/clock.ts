import { type Clock, realClock } from '../../src/clock.js';

/** Runs like the machine's clock, from another time on. */
export function clockRunningFrom(startMs: number): Clock {
  const aheadMs = startMs - Date.now();
  return { ...realClock, now: () => realClock.now() + aheadMs };
}

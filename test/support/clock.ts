import { type Clock, plus, realClock } from '../../src/clock.js';

/** Runs like the machine's clock, from another date on. */
export function clockRunningFrom(startMs: number): Clock {
  const aheadMs = startMs - realClock.wallMs();
  return { ...realClock, wallMs: (atMs) => plus(realClock.wallMs(atMs), aheadMs) };
}

import { type Clock, plus, realClock } from '../../src/clock.js';

/** Runs like the machine's clock, from another date on. */
export function clockRunningFrom(startMs: number): Clock {
  const aheadMs = startMs - realClock.wallMs();
  return { ...realClock, wallMs: (atMs) => plus(realClock.wallMs(atMs), aheadMs) };
}

/** Runs `factor` times as fast as the machine's clock. */
export function clockFasterBy(factor: number): Clock {
  const start = { now: realClock.now(), wallMs: realClock.wallMs() };
  const now = () => plus(start.now, (realClock.now() - start.now) * factor);
  return {
    ...realClock,
    now,
    wallMs: (atMs = now()) => plus(start.wallMs, atMs - start.now),
    timer: (delayMs, run) => realClock.timer(delayMs / factor, run),
    sleep: (delayMs, signal) => realClock.sleep(delayMs / factor, signal),
  };
}

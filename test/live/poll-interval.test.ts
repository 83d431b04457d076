import { describe, expect, it } from 'vitest';
import { pollIntervalMs } from '../../src/live/polling/interval.js';

const limit = (remaining: number) => ({
  perMinute: 60,
  burst: 20,
  remaining,
  remainingToday: null,
  resetAtMs: null,
});

describe('the interval of a feed', () => {
  it('is what was configured as long as half of the burst is there', () => {
    expect(pollIntervalMs(3_000, 1, limit(20))).toBe(3_000);
    expect(pollIntervalMs(3_000, 4, limit(10))).toBe(3_000);
  });

  it('grows where polls of several pages would take over half of the budget', () => {
    expect(pollIntervalMs(3_000, 1, limit(9))).toBe(3_000);
    expect(pollIntervalMs(3_000, 4, limit(9))).toBe(8_000);
  });

  it('takes no more than the share of a feed once the budget is short, and still all of that', () => {
    const intervalMs = pollIntervalMs(3_000, 1, limit(0));
    expect(60_000 / intervalMs).toBeGreaterThan(12);
    expect(60_000 / intervalMs).toBeLessThan(13.5);
    expect(pollIntervalMs(3_000, 4, limit(0))).toBe(4 * intervalMs);
    expect(pollIntervalMs(30_000, 1, limit(0))).toBe(30_000);
  });
});

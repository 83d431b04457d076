import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { UpstreamRateLimited } from '../../src/errors.js';
import { Poller } from '../../src/live/polling/poller.js';

const second = 1_000;

function begin({ random = 0.5, intervalMs = 5 * second } = {}) {
  const clock = new ManualClock();
  const startMs = clock.now();
  const polledAtMs: number[] = [];
  const state = { failure: null as Error | null, idleSteps: 0, tookMs: 0 };
  const failures: number[] = [];
  const poller = new Poller({
    clock,
    random: () => random,
    async poll(signal) {
      polledAtMs.push(clock.now() - startMs);
      if (state.tookMs > 0) await clock.sleep(state.tookMs, signal);
      if (state.failure) throw state.failure;
    },
    mayPoll: () => true,
    idle: async () => state.idleSteps-- > 0,
    intervalMs: () => intervalMs,
    onFailure: (_, inARow) => failures.push(inARow),
  });
  const gaps = () => polledAtMs.slice(1).map((atMs, i) => atMs - (polledAtMs[i] ?? 0));
  return { clock, poller, polledAtMs, gaps, state, failures };
}

describe('the poller', () => {
  it('polls from start to start of the interval, and not while it is stopped', async () => {
    const { clock, poller, polledAtMs, state } = begin();
    state.tookMs = second;
    await clock.advance(60 * second);
    expect(polledAtMs).toEqual([]);
    poller.start();
    await clock.advance(12 * second);
    expect(polledAtMs).toEqual([60, 65, 70].map((s) => s * second));
    poller.stop();
    await clock.advance(60 * second);
    expect(polledAtMs).toHaveLength(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('backs off up to half a minute while polls fail, spread by jitter, and is back at once after', async () => {
    for (const random of [0, 1]) {
      const { clock, poller, gaps, state, failures } = begin({ random });
      state.failure = new Error('scripted');
      poller.start();
      await clock.advance(10 * 60 * second);
      const spread = random === 0 ? 0.75 : 1.25;
      expect(gaps()[0]).toBe(5 * second * spread);
      expect(gaps()[1]).toBe(7.5 * second * spread);
      expect(Math.max(...gaps())).toBe(30 * second * spread);
      expect(failures.slice(0, 3)).toEqual([1, 2, 3]);
      state.failure = null;
      await clock.advance(90 * second);
      expect(gaps().at(-1)).toBe(5 * second);
      poller.stop();
    }
  });

  it('waits as long as upstream asks for, but not for ever', async () => {
    const { clock, poller, gaps, state } = begin();
    state.failure = new UpstreamRateLimited('scripted', { retryAfterS: 20 });
    poller.start();
    await clock.advance(21 * second);
    expect(gaps()).toEqual([20 * second]);
    state.failure = new UpstreamRateLimited('scripted', { retryAfterS: 1e9 });
    await clock.advance(200 * second);
    expect(Math.max(...gaps())).toBe(60 * second);
    poller.stop();
  });

  it('uses the time between polls for what can wait, and at least once where there is none', async () => {
    const { clock, poller, polledAtMs, state } = begin();
    state.tookMs = 12 * second;
    state.idleSteps = 3;
    poller.start();
    await clock.advance(60 * second);
    expect(state.idleSteps).toBeLessThan(3);
    expect(polledAtMs.length).toBeGreaterThan(3);
    poller.stop();
  });
});

import fc from 'fast-check';
import { describe, it } from 'vitest';
import { playAndCheck, schedule } from './schedules.js';

describe('whatever happens upstream, to the gateway and to a client', () => {
  it('delivers each trigger once: opened before updated before closed, with its final values', async () => {
    await fc.assert(fc.asyncProperty(schedule, playAndCheck), { numRuns: 25 });
  }, 180_000);
});

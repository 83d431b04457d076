import fc from 'fast-check';
import { describe, it } from 'vitest';
import { playAndCheck, schedule } from './schedules.js';

describe('whatever happens upstream, to the gateway and to a client', () => {
  it('delivers each trigger once: opened before updated before closed, with its final values', async () => {
    await fc.assert(fc.asyncProperty(schedule, playAndCheck), {
      numRuns: 25,
      examples: [
        // More triggers are open over a restart than a cursor of 1,000 characters has room for.
        [
          [
            [{ do: 'burst', count: 650 }, 0],
            [{ do: 'burst', count: 3 }, 0],
            [{ do: 'fail', reads: 1 }, 0],
            [{ do: 'open', pick: 0 }, 4711],
            [{ do: 'restart', downS: 0 }, 0],
            [{ do: 'fail', reads: 1 }, 15091],
          ],
        ],
      ],
    });
  }, 180_000);
});

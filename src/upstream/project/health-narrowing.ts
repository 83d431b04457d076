import type { Clock } from '../../clock.js';
import type { Read } from '../read.js';
import type { HealthQuery } from './client.js';
import { isTooLong, narrower, type Step, seam } from './too-long.js';
import type { WireHealthPage } from './wire.js';

const dayMs = 86_400_000;

/**
 * Health reports that upstream may take too long over: after 503 `timeout` a shorter range is asked for, and
 * `nextFrom` says where to go on, as after any page (key-scoped §4).
 */
export class HealthNarrowing {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async page(
    query: HealthQuery,
    read: (query: HealthQuery) => Promise<Read<WireHealthPage> | null>,
  ): Promise<Read<WireHealthPage> | null> {
    const toMs = query.to === undefined ? this.#clock.now() : Date.parse(query.to);
    const fromMs = query.from === undefined ? toMs - dayMs : Date.parse(query.from);
    const asked = { widthMs: Math.max(0, toMs - fromMs) || 0, limit: query.limit ?? 1_000 };
    for (let step: Step | null = null; ; ) {
      try {
        if (!step) return await read(query);
        const until = seam(fromMs + step.widthMs);
        const from = query.from ?? new Date(fromMs).toISOString();
        const page = await read({ from, to: until, limit: Math.min(asked.limit, step.limit) });
        return page && { ...page, value: { ...page.value, nextFrom: page.value.nextFrom ?? until } };
      } catch (error) {
        if (!isTooLong(error)) throw error;
        step = narrower(asked, step);
      }
    }
  }
}

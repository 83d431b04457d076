import { type Clock, dayMs } from '../../clock.js';
import type { Read } from '../read/read.js';
import type { HealthQuery } from './client.js';
import { isTooLong, RangeStep, RangeSteps, seam, tooWide } from './range-step.js';
import type { WireHealthPage } from './wire.js';

/**
 * Splits the range of health reports that upstream takes too long to read: after 503 `timeout` a shorter range is
 * requested, and `nextFrom` continues it, as after any page (docs/interfaces.md P4).
 */
export class HealthRangeSplitting {
  readonly #clock: Clock;
  readonly #steps = new RangeSteps();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `operationKey`: widths learnt for one page of an operation serve its next. */
  async page(
    query: HealthQuery,
    { id, operationKey }: { readonly id: string; readonly operationKey: object },
    read: (query: HealthQuery) => Promise<Read<WireHealthPage> | null>,
  ): Promise<Read<WireHealthPage> | null> {
    const toMs = query.to === undefined ? this.#clock.wallMs() : Date.parse(query.to);
    const fromMs = query.from === undefined ? toMs - dayMs : Date.parse(query.from);
    const limit = query.limit ?? 1_000;
    let rangeStep = this.#steps.of(operationKey, id);
    const tooMuch = new Set<string>();
    for (;;) {
      const step = rangeStep?.step ?? { widthMs: toMs - fromMs, limit };
      const isLast = rangeStep === undefined || !(fromMs + step.widthMs < toMs);
      const until = isLast ? query.to : seam(fromMs + step.widthMs);
      const from = isLast ? query.from : (query.from ?? new Date(fromMs).toISOString());
      const asked = { from, to: until, limit: rangeStep ? Math.min(limit, step.limit) : query.limit };
      try {
        // A different step can make the same request, where the rest of the page is short.
        if (tooMuch.has(JSON.stringify(asked))) throw tooWide();
        const page = await read(asked);
        rangeStep?.faster(page?.value.nextFrom === null);
        if (!page || !until || isLast) return page;
        return { ...page, value: { ...page.value, nextFrom: page.value.nextFrom ?? until } };
      } catch (error) {
        if (!isTooLong(error)) throw error;
        tooMuch.add(JSON.stringify(asked));
        rangeStep ??= new RangeStep({ widthMs: Math.max(0, toMs - fromMs) || 0, limit });
        if (!rangeStep.slower(step)) throw tooWide();
        this.#steps.learn(operationKey, id, rangeStep);
      }
    }
  }
}

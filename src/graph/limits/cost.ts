import type { GraphQLField } from 'graphql';
import type { UnixMs } from '../../clock.js';

/**
 * Worst-case cost of an operation, estimated before it runs: upstream requests (docs/behaviour.md 5.8) and values in
 * the answer. A field that causes requests declares them in its definition:
 *
 *     t.field({ …, extensions: cost({ requests: (args, parents) => parents, items: (args) => countOf(args) }) })
 *
 * A field without a hint costs no request and has one item per parent.
 */
export interface CostHint<Args = Record<string, unknown>> {
  /**
   * Worst-case upstream requests for all `parents` together: `() => 1` where a loader reads one list page for all,
   * `(args, parents) => parents` where each parent needs its own. `nowMs` is for a range that ends now.
   */
  readonly requests?: (args: Args, parents: number, nowMs: UnixMs) => number;
  /** Most items of a list or connection per parent; fewer than the page size where it is known how many there are. */
  readonly items?: (args: Args, known: KnownCounts) => number;
}

/** Number of records of each kind where it is known, otherwise infinite. */
export interface KnownCounts {
  readonly sensors: number;
}

// The argument type is erased: hints of all fields are in one schema, and the estimate reads them as `CostHint`.
export function cost<Args>(hint: CostHint<Args>): { upstreamCost: CostHint<Args> } {
  return { upstreamCost: hint };
}

export function hintOf(field: GraphQLField<unknown, unknown>): CostHint | undefined {
  return field.extensions.upstreamCost as CostHint | undefined;
}

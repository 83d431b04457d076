import type { FeedStatus } from '../live/feeds/feed.js';
import type { Feeds } from '../live/feeds/feeds.js';
import type { UnifyContext } from '../unify/context.js';
import type { InterfaceStatus } from '../upstream/read/read.js';
import type { InGroup } from './resolver-groups.js';
import type { ResultSink } from './subscriptions/result-sink.js';

/** What a resolver may touch. Made afresh for every operation and for every delivered change. */
export interface GraphContext {
  readonly unify: UnifyContext;
  /** What `Query.gateway` tells beyond the interfaces' own status. */
  readonly gateway: GatewayFacts;
  /** What subscriptions listen to: one set for each tenant. */
  readonly feeds: Feeds;
  /** Where the results of a subscription go straight to, if its transport can take them. */
  readonly sink?: ResultSink | undefined;
  /** Left out without tracing. */
  readonly inGroup?: InGroup | undefined;
  /** What it can cost at worst, as was estimated before it runs. */
  estimate?: Estimate | undefined;
}

export interface GatewayFacts {
  readonly version: string;
  /** True when the interfaces behind are the embedded sandbox. */
  readonly sandbox: boolean;
  /** What other processes of this gateway know; left out where there is one. */
  readonly elsewhere?: () => Promise<OtherProcesses>;
}

/** How the same interfaces and feeds are doing in other processes. Of clients' own keys nothing is told. */
export interface OtherProcesses {
  readonly interfaces: readonly InterfaceStatus[];
  readonly feeds: readonly FeedStatus[];
}

/** What an operation can cost at worst, estimated before it runs: see `cost.ts`. */
export interface Estimate {
  /** Of upstream. */
  readonly requests: number;
  /** Scalars in the answer. */
  readonly values: number;
  /** Whether it is the same for whatever variables. */
  readonly isConstant: boolean;
  /** Whether it is the same at any time. */
  readonly isTimeless: boolean;
  /** Whether `values` is a bound: not where a scalar is a list by itself, or where the schema is asked for. */
  readonly isBound: boolean;
}

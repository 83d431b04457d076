import type { FeedStatus } from '../live/feeds/feed.js';
import type { Feeds } from '../live/feeds/feeds.js';
import type { UnifyContext } from '../unify/context.js';
import type { InterfaceStatus } from '../upstream/read/read.js';
import type { InitialCounts } from './incremental/count.js';
import type { InGroup } from './resolver-groups.js';
import type { ResultSink } from './subscriptions/result-sink.js';

/** Context of resolvers. Created for every operation and for every delivered change. */
export interface GraphContext {
  readonly unify: UnifyContext;
  /** Facts for `Query.gateway` beyond the status of the interfaces. */
  readonly gateway: GatewayFacts;
  /** The live feeds of the tenant. */
  readonly feeds: Feeds;
  /** Receives the serialised results of a subscription, if its transport supports that. */
  readonly sink?: ResultSink | undefined;
  /** Left out without tracing. */
  readonly inGroup?: InGroup | undefined;
  /** Makes the context of deferred parts; left out where the client takes no parts. */
  readonly forDeferred?: (() => GraphContext) | undefined;
  /** Set for an answer in parts. */
  deferred?: Deferred | undefined;
  /** Worst-case cost, set before the execution. */
  estimate?: Estimate | undefined;
}

export interface Deferred {
  /** Context of the fields in deferred parts, whose reads may wait longer. */
  readonly context: GraphContext;
  readonly initialCounts: InitialCounts;
}

export interface GatewayFacts {
  readonly version: string;
  /** True when the interfaces are the embedded sandbox. */
  readonly sandbox: boolean;
  /** Status in the other processes of this gateway; left out for a single process. */
  readonly otherProcesses?: () => Promise<OtherProcesses>;
}

/** Status of the same interfaces and feeds in other processes. It excludes the keys of clients. */
export interface OtherProcesses {
  readonly interfaces: readonly InterfaceStatus[];
  readonly feeds: readonly FeedStatus[];
}

/** Worst-case cost of an operation, estimated before it runs: see `limits/cost.ts`. */
export interface Estimate {
  /** Upstream requests. */
  readonly requests: number;
  /** Scalars in the answer. */
  readonly values: number;
  /** Parts of the answer that the client asks for by `@defer` and `@stream`. */
  readonly parts: number;
  /** True if it does not depend on variables. */
  readonly isConstant: boolean;
  /** True if it depends on how many records are known to exist. */
  readonly counts: boolean;
  /** True if it does not depend on the time of the request. */
  readonly isTimeless: boolean;
  /** True if `values` is an upper bound; false with JSON and Samples scalars, which hold lists, and introspection. */
  readonly isBound: boolean;
}

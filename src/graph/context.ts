import type { Feeds } from '../live/feeds.js';
import type { UnifyContext } from '../unify/context.js';

/** What a resolver may touch. Made afresh for every operation and for every delivered change. */
export interface GraphContext {
  readonly unify: UnifyContext;
  /** What `Query.gateway` tells beyond the interfaces' own status. */
  readonly gateway: GatewayFacts;
  /** What subscriptions listen to: one set for each tenant. */
  readonly feeds: Feeds;
}

export interface GatewayFacts {
  readonly version: string;
  /** True when the interfaces behind are the embedded sandbox. */
  readonly sandbox: boolean;
}

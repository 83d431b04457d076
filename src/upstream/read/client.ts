import type { Delivered } from '../cache/delivered.js';
import type { DerivedCache } from '../cache/derived-cache.js';
import type { InterfaceState } from './interface-state.js';
import type { UpstreamStatus } from './read.js';

/** The methods that the clients of both interfaces share, beside their reads. */
export interface UpstreamClient {
  status(): UpstreamStatus;
  /** True where responses read with this key may be served without asking upstream again (docs/behaviour.md 7). */
  mayServeCached(): boolean;
  /** Values computed from several responses, cached like a response. */
  readonly derivedCache: DerivedCache;
  /**
   * A feed is about to deliver this record: from now on no response that lacks it is served (docs/behaviour.md 5.7).
   */
  delivering(delivered: Delivered): void;
  /** Nothing read before this moment, finished or in flight, is served from the cache again. */
  discardCache(): void;
  /** Aborts requests in flight and clears the cache: the owner of the key has gone. */
  close(): void;
}

export function clientOf(state: InterfaceState): UpstreamClient {
  return {
    status: () => state.status(),
    mayServeCached: () => state.mayServeCached,
    derivedCache: state.derivedCache,
    delivering: (delivered) => state.cache.delivering(delivered),
    discardCache: () => state.discardCache(),
    close: () => state.close(),
  };
}

import type { Place } from '../../store/store.js';
import type { Ledger } from '../tracking/change-detector.js';

/** How far upstream has been read, by whichever instance does that. */
export interface Pulse {
  /** When it was last read to the end, on this instance's clock. */
  readonly readAtMs: number;
  readonly upstreamMs: number;
}

/** How what is news reaches the listeners of this instance: through what several instances share, or at once. */
export interface Relay<Rec> {
  /** Whether it is this instance that polls. */
  readonly isPolling: boolean;
  /** Of another instance that polls; null where there is none. */
  readonly pulse: Pulse | null;
  /** Somebody listens; until `stop`. */
  start(): void;
  stop(): void;
  /** Over when a listener who was last told of `logged` can begin; null when that is at once. */
  upTo(logged: Place | null): Promise<void> | null;
  publish(news: readonly Rec[]): void | Promise<void>;
}

/** Of one process. */
export function ownRelay<Rec>(ledger: Pick<Ledger<Rec, string>, 'tell'>): Relay<Rec> {
  return {
    isPolling: true,
    pulse: null,
    start() {},
    stop() {},
    upTo: () => null,
    publish: (news) => ledger.tell(news),
  };
}

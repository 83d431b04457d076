import type { Place } from '../../store/store.js';
import type { ChangeDetector } from '../tracking/change-detector.js';

/** How far upstream has been read, by whichever instance does that. */
export interface PollProgress {
  /** When it was last read to the end, on this instance's clock. */
  readonly readAtMs: number;
  readonly upstreamMs: number;
}

/** How what is news reaches the listeners of this instance: through what several instances share, or at once. */
export interface ChangePublisher<Rec> {
  /** Whether it is this instance that polls. */
  readonly isPolling: boolean;
  /** Of another instance that polls; null where there is none. */
  readonly progress: PollProgress | null;
  /** Somebody listens; until `stop`. */
  start(): void;
  stop(): void;
  /** Over when a listener who was last told of `logged` can begin; null when that is at once. */
  upTo(logged: Place | null): Promise<void> | null;
  publish(news: readonly Rec[]): void | Promise<void>;
}

/** Of one process. */
export function localPublisher<Rec>(
  detector: Pick<ChangeDetector<Rec, string>, 'append'>,
): ChangePublisher<Rec> {
  return {
    isPolling: true,
    progress: null,
    start() {},
    stop() {},
    upTo: () => null,
    publish: (news) => detector.append(news),
  };
}

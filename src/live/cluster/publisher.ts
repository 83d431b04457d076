import type { ForwardMs, UnixMs } from '../../clock.js';
import type { ChangeAppender } from '../tracking/change-appender.js';
import type { State } from '../tracking/snapshot.js';

/** Progress of the instance that polls. */
export interface PollProgress {
  /** When upstream was last read to the end, on this instance's clock. */
  readonly readAtMs: ForwardMs;
  readonly upstreamMs: UnixMs;
}

/** Appends changes to the log of this instance, directly or through the replicated log. */
export interface ChangePublisher<Rec> {
  /** True when this instance polls. */
  readonly isLeader: boolean;
  /** Progress of another instance that polls; null when there is none. */
  readonly progress: PollProgress | null;
  /** Takes part in the cluster from the first listener until `stop`. */
  start(): void;
  stop(): void;
  /**
   * Resolves when this instance has what the others have appended before the call, so that a listener that comes now gets
   * only what is appended after it. Null where there is nothing to wait for.
   */
  upToDate(): Promise<void> | null;
  append(changed: readonly State<Rec>[]): void | Promise<void>;
}

/** Appends directly: for a single process. */
export function localPublisher<Rec>(
  appender: Pick<ChangeAppender<Rec, string>, 'append'>,
): ChangePublisher<Rec> {
  return {
    isLeader: true,
    progress: null,
    start() {},
    stop() {},
    upToDate: () => null,
    append: (changed) => appender.append(changed),
  };
}

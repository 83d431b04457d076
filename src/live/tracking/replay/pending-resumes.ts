import { asMoment, earliest, forever, latest, plus, type UnixMs } from '../../../clock.js';
import { CursorExpired, type GatewayError } from '../../../errors.js';
import { limits } from '../../../limits.js';
import type { FeedListener } from '../../feeds/feed.js';
import type { Change } from '../change.js';
import type { ChangeAppender } from '../change-appender.js';
import type { ChangeDetector } from '../change-detector.js';
import { expired, type Position } from '../cursor/cursor.js';

export interface Resume {
  readonly cursor: string;
  readonly position: Position;
}

/**
 * Subscribers with a cursor older than the log, waiting until enough of upstream has been read to replay what they
 * missed.
 */
export class PendingResumes<Rec, Kind extends string> {
  readonly #waiting = new Map<FeedListener<Change<Rec, Kind>>, Resume>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Time from which upstream has to be read for all waiting subscribers; Infinity when there are none. */
  get wantedFromMs(): UnixMs {
    let wantedMs: UnixMs = forever;
    for (const { position } of this.#waiting.values()) wantedMs = earliest(wantedMs, earliestOf(position));
    return wantedMs;
  }

  wait(listener: FeedListener<Change<Rec, Kind>>, resume: Resume): void {
    this.#waiting.set(listener, resume);
  }

  leave(listener: object): void {
    this.#waiting.delete(listener as FeedListener<Change<Rec, Kind>>);
  }

  clear(): void {
    this.#waiting.clear();
  }

  /**
   * Starts the subscribers for which enough is known. Their replay ends exactly where the log continues: no change is
   * left out between the two, and none is in both.
   * @param isTooMuch no more will be read: the cursors that still wait have expired
   */
  answer(
    detector: ChangeDetector<Rec, Kind>,
    appender: ChangeAppender<Rec, Kind>,
    expire: (listener: FeedListener<Change<Rec, Kind>>, error: GatewayError) => void,
    isTooMuch: boolean,
  ): void {
    const { watermark, completeFromMs } = detector;
    const { replay, log } = appender;
    for (const [listener, { cursor, position }] of this.#waiting) {
      const isExpired = timeOf(position) < watermark.ms - limits.resumeMs;
      const isComplete = earliestOf(position) >= completeFromMs;
      if (!isExpired && !isComplete && !isTooMuch) continue;
      this.#waiting.delete(listener);
      const missed =
        isExpired || !isComplete ? null : replay.missedSince(cursor, position, log.next, completeFromMs);
      if (!missed) {
        expire(listener, new CursorExpired(expired, { argument: 'after' }));
      } else {
        for (const { change } of missed.replay) appender.delivering(change.record);
        listener.begin({ ...missed, from: log.next, liveFrom: log.next });
      }
    }
  }
}

function earliestOf(position: Position): UnixMs {
  const { horizonMs, oldestOpenMs } = position;
  return latest(plus(timeOf(position), -limits.resumeMs), earliest(horizonMs, oldestOpenMs));
}

function timeOf({ timeUs }: Position): UnixMs {
  return asMoment(timeUs / 1000);
}

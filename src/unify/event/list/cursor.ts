import { createHash } from 'node:crypto';
import { z } from 'zod';
import { asMoment, longAgo, minuteMs, type UnixMs } from '../../../clock.js';
import { derived, mostEvents } from '../../derived.js';
import { decodeCursor, encodeCursor, type PageRequest } from '../../paging.js';
import { Instant } from '../../time/instant.js';
import type { LocatedEvent } from '../merge.js';
import type { ProjectResume, Straggler } from './project-reader.js';

export type EventOrder = 'ORIGIN_TIME_DESC' | 'ORIGIN_TIME_ASC';

/** A position in the list of events, between two of them. */
export interface EventSortKey {
  readonly originTime: Instant;
  /** Key of the event before this position; null for the position before all events of that origin time. */
  readonly key: string | null;
}

/** Content of a cursor: all that is needed to continue from its position, so the gateway holds no state for it. */
export interface EventPosition extends EventSortKey {
  /**
   * Marks of the events delivered last: an event is not delivered again when a later solution moves it past the cursor.
   */
  readonly delivered: readonly string[];
  /** Resume state of the project's list; null when it could not be read. */
  readonly project: ProjectResume | null;
  /** Name of the pushdown that `project` belongs to. */
  readonly pushdownName: string;
  /**
   * True where a scan in the opposite order made the position. Without a key it then lies behind all events of that
   * origin time, and it has neither marks nor a resume state, which are of the other scan.
   */
  readonly isOpposite: boolean;
}

/** Span around a cursor in which replaced solutions are recognised. */
export const movesWithinMs = 2 * minuteMs;

/** @param isBackward true where the list was scanned from its end, against its order */
export function encodePosition(
  order: EventOrder,
  position: Omit<EventPosition, 'isOpposite'>,
  isBackward: boolean,
): string {
  const { originTime, key, delivered, project, pushdownName } = position;
  const resume = project && [
    project.horizonMs,
    project.readOnMs,
    project.pinMs,
    project.stragglers.flat(),
    project.lagMs,
    project.isAssumed ? 1 : 0,
  ];
  return encodeCursor(listOf(order), [
    String(originTime),
    key,
    delivered.join(''),
    resume,
    digest(pushdownName),
    ...(isBackward ? [1] : []),
  ]);
}

/** A decoded cursor. */
export interface DecodedPosition {
  /** True when the cursor belongs to a list with this pushdown. */
  isOf(pushdownName: string): boolean;
  /** The position in a list with this pushdown. The resume state is dropped when the cursor belongs to another one. */
  resumedIn(pushdownName: string): EventPosition;
}

/** A cursor with the direction in which the page that continues from it is scanned. */
export type CursorRequest = Pick<PageRequest, 'argument' | 'isBackward'> & { readonly cursor: string };

/** @throws CursorInvalid */
export function decodePosition(order: EventOrder, request: CursorRequest): DecodedPosition {
  const { cursor, argument, isBackward } = request;
  return decodeCursor(listOf(order), cursor, argument, (position) => {
    const result = shape.safeParse(position);
    if (!result.success) return null;
    const [time, key, marks, resume, digestThen, wasBackward] = result.data;
    const isOpposite = (wasBackward !== undefined) !== isBackward;
    const originTime = Instant.parse(time);
    if (!originTime) return null;
    const delivered = isOpposite ? [] : marks.match(new RegExp(`.{${markLength}}`, 'g'));
    const isOf = (pushdownName: string) => digest(pushdownName) === digestThen;
    return {
      isOf,
      resumedIn: (pushdownName) => {
        const project = isOf(pushdownName) && !isOpposite ? resume : null;
        return { originTime, key, delivered: delivered ?? [], project, pushdownName, isOpposite };
      },
    };
  });
}

/** The marks of an event: one from its project id, one from its catalogue id. */
export const marksOf = derived(
  ({ projectEventId, catalogueEventId }: LocatedEvent): readonly string[] => [
    ...(projectEventId === null ? [] : [digest(`p:${projectEventId}`)]),
    ...(catalogueEventId === null ? [] : [digest(`c:${catalogueEventId}`)]),
  ],
  mostEvents,
);

/** Bounds the length of a cursor. */
export const mostMarks = 64;

// 36 bits: among a few hundred events, two marks collide about once in a million pages.
const markLength = 6;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, markLength);
}

function listOf(order: EventOrder): string {
  return `events ${order}`;
}

const date = z.number().transform((ms): UnixMs => asMoment(ms));

const resumeShape = z
  .tuple([date, date, date.nullable(), z.array(date).max(64), z.number().nullable(), z.number()])
  .transform(([horizonMs, readOnMs, pinMs, stragglers, lagMs, isAssumed]): ProjectResume => {
    const pairs = Array.from(
      { length: Math.floor(stragglers.length / 2) },
      (_, index): Straggler => [stragglers[2 * index] ?? longAgo, stragglers[2 * index + 1] ?? longAgo],
    );
    return { horizonMs, readOnMs, pinMs, stragglers: pairs, lagMs, isAssumed: isAssumed === 1 };
  });

const shape = z.tuple([
  z.string(),
  z.string().nullable(),
  z.string(),
  resumeShape.nullable(),
  z.string(),
  z.literal(1).optional(),
]);

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { derived } from '../../derived.js';
import { decodeCursor, encodeCursor } from '../../paging.js';
import { Instant } from '../../time/instant.js';
import type { LocatedEvent } from '../merge.js';
import type { ProjectResume } from './project-reader.js';

export type EventOrder = 'ORIGIN_TIME_DESC' | 'ORIGIN_TIME_ASC';

/** A place in the list of events, between two of them. */
export interface EventPlace {
  readonly originTime: Instant;
  /** Of the event that it stands behind; null to stand before all that began then. */
  readonly key: string | null;
}

/** What a cursor holds: all that is needed to go on from its place. Nothing is kept. */
export interface EventPosition extends EventPlace {
  /** Marks of the events just delivered: one whose solution is replaced by a slightly later one is not delivered again. */
  readonly delivered: readonly string[];
  /** How to go on with the project's list; null where it could not be read. */
  readonly project: ProjectResume | null;
  /** The narrowing that `project` is about. */
  readonly narrowedTo: string;
}

/** A solution that replaces another is looked for so far around a cursor. */
export const movesWithinMs = 120_000;

export function encodePosition(order: EventOrder, position: EventPosition): string {
  const { originTime, key, delivered, project, narrowedTo } = position;
  const resume = project && [
    project.horizonMs,
    project.atMs,
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
    digest(narrowedTo),
  ]);
}

/** A cursor as it came. */
export interface DecodedPosition {
  /** Whether it is of a list that was narrowed so. */
  isOf(narrowedTo: string): boolean;
  /** The position in a list narrowed so. In another than its own, how to go on with the project's list is not known. */
  resumedIn(narrowedTo: string): EventPosition;
}

/** @throws CursorInvalid */
export function decodePosition(order: EventOrder, cursor: string): DecodedPosition {
  return decodeCursor(listOf(order), cursor, 'after', (position) => {
    const result = shape.safeParse(position);
    if (!result.success) return null;
    const [time, key, marks, resume, digestThen] = result.data;
    const originTime = Instant.parse(time);
    if (!originTime) return null;
    const delivered = marks.match(new RegExp(`.{${markLength}}`, 'g')) ?? [];
    const isOf = (narrowedTo: string) => digest(narrowedTo) === digestThen;
    return {
      isOf,
      resumedIn: (narrowedTo) => {
        const project = isOf(narrowedTo) ? resume : null;
        return { originTime, key, delivered, project, narrowedTo };
      },
    };
  });
}

/** Both ways to recognise an event that was delivered: by the project's record and by the catalogue's. */
export const marksOf = derived(({ projectEventId, catalogueEventId }: LocatedEvent): readonly string[] => [
  ...(projectEventId === null ? [] : [digest(`p:${projectEventId}`)]),
  ...(catalogueEventId === null ? [] : [digest(`c:${catalogueEventId}`)]),
]);

/** A cursor is text that clients carry around. */
export const mostMarks = 64;

// 36 bits: among a few hundred events, two are mistaken for each other once in a million pages.
const markLength = 6;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, markLength);
}

function listOf(order: EventOrder): string {
  return `events ${order}`;
}

const resumeShape = z
  .tuple([
    z.number(),
    z.number(),
    z.number().nullable(),
    z.array(z.number()).max(64),
    z.number().nullable(),
    z.number(),
  ])
  .transform(([horizonMs, atMs, pinMs, stragglers, lagMs, isAssumed]): ProjectResume => {
    const pairs = Array.from({ length: Math.floor(stragglers.length / 2) }, (_, index): [number, number] => [
      stragglers[2 * index] ?? 0,
      stragglers[2 * index + 1] ?? 0,
    ]);
    return { horizonMs, atMs, pinMs, stragglers: pairs, lagMs, isAssumed: isAssumed === 1 };
  });

const shape = z.tuple([z.string(), z.string().nullable(), z.string(), resumeShape.nullable(), z.string()]);

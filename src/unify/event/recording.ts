import DataLoader from 'dataloader';
import { z } from 'zod';
import { ceilTo, floorTo } from '../../clock.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { isMasked } from '../masking/masking.js';
import {
  decodeCursor,
  edgeOf,
  encodeCursor,
  type PageArgs,
  pageRequestOf,
  type Slice,
  sliceOf,
} from '../paging.js';
import type { Instant } from '../time/instant.js';
import { type Span, within } from '../time/spans.js';
import type { MaybeInstant } from '../time/wire-time.js';
import { candidatesOf, quakeOf } from '../trigger/event.js';
import { triggersIn } from '../trigger/list/spans.js';
import type { Trigger } from '../trigger/record.js';
import { sensorOfTrigger, stationOfTrigger } from '../trigger/sensor.js';
import { arrivalsOf, mayBeFrom } from './detail.js';
import { bestExplanation, type Explanation, explain, startsThatMayBeExplained } from './explanation.js';
import { type Event, isLocated, type LocatedEvent } from './merge.js';

/** A trigger that an earthquake explains (docs/behaviour.md 6.7). */
export interface Recording {
  readonly trigger: Trigger;
  readonly event: LocatedEvent;
  readonly explanation: Explanation;
}

/**
 * The triggers that this earthquake explains better than any other, nearest first. Batched.
 * @throws NotConfigured without a project interface: the catalogue has no triggers.
 */
export async function recordingsOf(ctx: UnifyContext, event: Event): Promise<readonly Recording[]> {
  if (!isLocated(event)) return [];
  const quake = quakeOf(event);
  const recordings = await Promise.all(
    (await ctx.once(createLoader).load(event)).map(async (trigger): Promise<Recording | null> => {
      const station = await stationOfTrigger(ctx, trigger);
      const explanation = station && explain(quake, station);
      if (!station || !explanation) return null;
      const { quakes } = await candidatesOf(ctx, trigger);
      const rivals = quakes.filter((other) => !isSame(other.event, event));
      const best = bestExplanation([quake, ...rivals], station);
      return best?.quake === quake ? { trigger, event, explanation } : null;
    }),
  );
  return recordings.filter((recording) => recording !== null).sort(nearestFirst);
}

export interface RecordingSlice extends Slice<Recording> {
  readonly totalCount: number;
}

/**
 * One page of the recordings of an earthquake. A cursor names its trigger and counts the recordings before it: their
 * order is by distance, which is withheld of a masked sensor and so must not be in a cursor.
 * @throws as `recordingsOf`; BadUserInput, CursorInvalid
 */
export async function listRecordings(
  ctx: UnifyContext,
  event: Event,
  args: PageArgs,
): Promise<RecordingSlice> {
  const { count, cursor, argument, isBackward } = pageRequestOf(args);
  const position = cursor === null ? null : positionIn(event, cursor, argument);
  const all = await recordingsOf(ctx, event);
  const own = all.findIndex(({ trigger }) => trigger.triggerId === position?.triggerId);
  // Where the trigger is gone, those behind it have moved up to its index.
  const index = own < 0 ? Math.min(position?.index ?? 0, all.length) : own;
  const end = position && isBackward ? index : all.length;
  const start = position && !isBackward ? index + Number(own >= 0) : 0;
  const from = isBackward ? Math.max(start, end - count) : start;
  const to = isBackward ? end : Math.min(end, start + count);
  const edges = all
    .slice(from, to)
    .map((recording, nth) => edgeOf(recording, () => cursorOf(recording, from + nth)));
  return { ...sliceOf(edges, { next: to < all.length, previous: from > 0 }), totalCount: all.length };
}

/** Kilometres from the epicentre to the sensor; null for a masked sensor. */
export async function recordedAtKm(ctx: UnifyContext, recording: Recording): Promise<number | null> {
  return (await isHidden(ctx, recording)) ? null : recording.explanation.distanceKm;
}

/**
 * Arrival time of P or S at the sensor: the catalogue's arrival for the station if there is one, else estimated from
 * the distance. Null for a masked sensor: P and S, or one of them and the origin time, give the distance.
 */
export async function arrivalAt(
  ctx: UnifyContext,
  recording: Recording,
  wave: 'p' | 's',
): Promise<MaybeInstant> {
  if (await isHidden(ctx, recording)) return null;
  const { event, explanation, trigger } = recording;
  const stationCode = known(trigger.stationCode);
  const arrivals = stationCode === null ? null : await arrivalsOf(ctx, event);
  const arrival = arrivals?.find(
    (one) => one.stationCode === stationCode && mayBeFrom(one, explanation.distanceKm),
  );
  const read = wave === 'p' ? arrival?.pArrival : arrival?.sArrival;
  return read ?? estimated(event.solution.originTime, wave === 'p' ? explanation.pS : explanation.sS);
}

function cursorOf({ event, trigger }: Recording, index: number): string {
  return encodeCursor(list, [event.projectEventId, event.catalogueEventId, trigger.triggerId, index]);
}

function positionIn(event: Event, cursor: string, argument: string) {
  return decodeCursor(list, cursor, argument, (position) => {
    const result = positionShape.safeParse(position);
    if (!result.success) return null;
    const [projectEventId, catalogueEventId, triggerId, index] = result.data;
    return isSame(event, { projectEventId, catalogueEventId }) ? { triggerId, index } : null;
  });
}

const list = 'recordings';
const positionShape = z.tuple([z.string().nullable(), z.string().nullable(), z.string(), z.int().min(0)]);

function createLoader(ctx: UnifyContext): DataLoader<LocatedEvent, readonly Trigger[]> {
  return new DataLoader(async (events) => {
    const spans = events.map((event) => wholeSeconds(startsThatMayBeExplained(quakeOf(event))));
    const triggers = await triggersIn(ctx, spans);
    return spans.map((span) => within(triggers, ({ startTime }) => startTime.ms, span));
  });
}

function wholeSeconds({ fromMs, toMs }: Span): Span {
  return { fromMs: floorTo(1000, fromMs), toMs: ceilTo(1000, toMs) };
}

interface EventIds {
  readonly projectEventId: string | null;
  readonly catalogueEventId: string | null;
}

function isSame(a: EventIds, b: EventIds): boolean {
  const same = (mine: string | null, theirs: string | null) => mine !== null && mine === theirs;
  return same(a.projectEventId, b.projectEventId) || same(a.catalogueEventId, b.catalogueEventId);
}

async function isHidden(ctx: UnifyContext, { trigger }: Recording): Promise<boolean> {
  const sensor = await sensorOfTrigger(ctx, trigger);
  return !sensor || isMasked(ctx, sensor);
}

function estimated(originTime: Instant, afterS: number): Instant {
  // Rounded to 0.01 s, which is already finer than the travel-time model.
  return originTime.plusMs(Math.round(afterS * 100) * 10);
}

function nearestFirst(a: Recording, b: Recording): number {
  return (
    a.explanation.distanceKm - b.explanation.distanceKm || a.trigger.startTime.compare(b.trigger.startTime)
  );
}

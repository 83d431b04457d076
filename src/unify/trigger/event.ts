import DataLoader from 'dataloader';
import { ceilTo, dayMs, floorTo, minuteMs } from '../../clock.js';
import { GatewayError } from '../../errors.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { derived } from '../derived.js';
import { bestExplanation, originsThatMayExplain, type Quake } from '../event/explanation.js';
import { eventsBetween } from '../event/list/list.js';
import type { LocatedEvent } from '../event/merge.js';
import type { UnavailableSource } from '../paging.js';
import { Instant } from '../time/instant.js';
import { mergeSpans, type Span, within } from '../time/spans.js';
import type { Trigger } from './record.js';
import { stationOfTrigger } from './sensor.js';

/**
 * The earthquake that explains a trigger best (docs/behaviour.md 6.7); null when none is known. Batched.
 * @throws the failure of an interface that could have had it
 */
export async function eventOfTrigger(ctx: UnifyContext, trigger: Trigger): Promise<LocatedEvent | null> {
  const [station, candidates] = await Promise.all([
    stationOfTrigger(ctx, trigger),
    candidatesOf(ctx, trigger),
  ]);
  if (!station) return null;
  const best = bestExplanation(candidates.quakes, station);
  if (best) return best.quake.event;
  if (candidates.missing) throw candidates.missing;
  return null;
}

export interface EventQuake extends Quake {
  readonly event: LocatedEvent;
}

/** The values of an event that decide what it explains. */
export const quakeOf = derived((event: LocatedEvent): EventQuake => {
  return {
    ...event.solution,
    event,
    depthKm: known(event.depthKm),
    magnitude: known(event.magnitude),
    pickStations: event.pickStations,
  };
});

export interface Candidates {
  /** Oldest first. */
  readonly quakes: readonly EventQuake[];
  /** Failure of an interface that may have the earthquake; null when all answered. */
  readonly missing: GatewayError | null;
}

/**
 * Earthquakes of which waves could be arriving when a trigger started. Batched: one read for triggers close in time.
 */
export function candidatesOf(ctx: UnifyContext, trigger: Trigger): Promise<Candidates> {
  return ctx.once(createLoader).load(trigger);
}

function createLoader(ctx: UnifyContext): DataLoader<Trigger, Candidates, string> {
  return new DataLoader(
    async (triggers) => {
      const spans = triggers.map(spanBefore);
      const reads = mergeSpans(spans, dayMs).map((span) => ({ span, quakes: readQuakes(ctx, span) }));
      return Promise.all(
        spans.map(async (span) => {
          const read = reads.find((one) => one.span.fromMs <= span.fromMs && span.toMs <= one.span.toMs);
          try {
            if (!read) throw new Error('A span of time is not among those that were merged from it');
            const { quakes, missing } = await read.quakes;
            return { quakes: within(quakes, ({ originTime }) => originTime.ms, span), missing };
          } catch (error) {
            return error instanceof Error ? error : new Error(String(error));
          }
        }),
      );
    },
    { cacheKeyFn: (trigger) => trigger.key },
  );
}

// Rounded to whole minutes, so that the query stays the same while a list of triggers grows by one.
function spanBefore({ startTime }: Trigger): Span {
  const { fromMs, toMs } = originsThatMayExplain(startTime.ms);
  return { fromMs: floorTo(minuteMs, fromMs), toMs: ceilTo(minuteMs, toMs) };
}

async function readQuakes(ctx: UnifyContext, { fromMs, toMs }: Span): Promise<Candidates> {
  const { events, unavailableSources } = await eventsBetween(
    ctx,
    Instant.fromMs(fromMs),
    Instant.fromMs(toMs),
  );
  return { quakes: events.map(quakeOf), missing: missingOf(unavailableSources) };
}

// A project without event detection (`FORBIDDEN`) has no events, so the catalogue alone is complete.
function missingOf(sources: readonly UnavailableSource[]): GatewayError | null {
  const source = sources.find(({ code }) => code !== 'FORBIDDEN');
  return source ? new EventsMissing(source) : null;
}

/** No earthquake is known, but an interface that could know one did not answer. */
class EventsMissing extends GatewayError {
  readonly code: string;

  constructor({ code, message, retryAfterS }: UnavailableSource) {
    super(`Not known: ${message}`, { retryAfterS: retryAfterS ?? undefined });
    this.code = code;
  }
}

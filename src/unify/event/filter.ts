import { BadUserInput, notConfigured, type Source } from '../../errors.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { type Box, boxContains, type Circle, withinRadius } from '../geo/geodesy.js';
import type { Instant } from '../time/instant.js';
import type { LocatedEvent } from './merge.js';
import { knownInstant } from './solution.js';

/**
 * `EventFilter` of the graph. All conditions apply together, to the merged event (docs/behaviour.md 6.3); ends are
 * inclusive.
 */
export interface EventFilter {
  readonly from?: Instant | null | undefined;
  readonly to?: Instant | null | undefined;
  readonly issuedFrom?: Instant | null | undefined;
  readonly issuedTo?: Instant | null | undefined;
  readonly minMagnitude?: number | null | undefined;
  readonly maxMagnitude?: number | null | undefined;
  readonly minDepthKm?: number | null | undefined;
  readonly maxDepthKm?: number | null | undefined;
  readonly boundingBox?: Box | null | undefined;
  readonly within?: Circle | null | undefined;
  readonly networkId?: string | null | undefined;
  readonly source?: Source | null | undefined;
}

/** An event that lacks the value of a condition does not match. */
export function matchesFilter(filter: EventFilter, event: LocatedEvent): boolean {
  const { solution } = event;
  return (
    !(filter.from && solution.originTime.compare(filter.from) < 0) &&
    !(filter.to && solution.originTime.compare(filter.to) > 0) &&
    issuedWithin(filter, knownInstant(event.issuedAt)) &&
    isBetween(known(event.magnitude), filter.minMagnitude, filter.maxMagnitude) &&
    isBetween(known(event.depthKm), filter.minDepthKm, filter.maxDepthKm) &&
    !(filter.source && !event.sources.includes(filter.source)) &&
    !(typeof filter.networkId === 'string' && event.networkId !== filter.networkId) &&
    !(filter.boundingBox && !boxContains(filter.boundingBox, solution)) &&
    !(filter.within && !withinRadius(filter.within, solution))
  );
}

/** @throws BadUserInput naming the argument that contradicts another */
export function checkFilter(filter: EventFilter): void {
  if (filter.from && filter.to && filter.from.compare(filter.to) > 0) contradiction('from', 'to', 'later');
  if (filter.issuedFrom && filter.issuedTo && filter.issuedFrom.compare(filter.issuedTo) > 0) {
    contradiction('issuedFrom', 'issuedTo', 'later');
  }
  for (const [least, most] of [
    ['minMagnitude', 'maxMagnitude'],
    ['minDepthKm', 'maxDepthKm'],
  ] as const) {
    if ((filter[least] ?? Number.NEGATIVE_INFINITY) > (filter[most] ?? Number.POSITIVE_INFINITY)) {
      contradiction(least, most, 'greater');
    }
  }
}

/**
 * Interfaces that must have every event of the list.
 * @throws NotConfigured when one of them is not configured
 */
export function neededSources(filter: EventFilter, context: UnifyContext): readonly Source[] {
  const needed = new Set<Source>();
  if (filter.source) needed.add(filter.source);
  if (typeof filter.networkId === 'string') needed.add('CATALOGUE');
  if (filter.issuedFrom || filter.issuedTo) needed.add('PROJECT');
  if (needed.has('PROJECT') && !context.project) throw notConfigured('PROJECT');
  if (needed.has('CATALOGUE') && !context.catalogue) throw notConfigured('CATALOGUE');
  return [...needed];
}

function issuedWithin({ issuedFrom, issuedTo }: EventFilter, issuedAt: Instant | null): boolean {
  if (!issuedFrom && !issuedTo) return true;
  if (!issuedAt) return false;
  return !(issuedFrom && issuedAt.compare(issuedFrom) < 0) && !(issuedTo && issuedAt.compare(issuedTo) > 0);
}

function isBetween(
  value: number | null,
  least: number | null | undefined,
  most: number | null | undefined,
): boolean {
  if ((least ?? null) === null && (most ?? null) === null) return true;
  if (value === null) return false;
  return value >= (least ?? Number.NEGATIVE_INFINITY) && value <= (most ?? Number.POSITIVE_INFINITY);
}

function contradiction(least: string, most: string, how: string): never {
  const argument = `filter.${least}`;
  throw new BadUserInput(`\`${argument}\` must not be ${how} than \`filter.${most}\``, { argument });
}

import { notConfigured, type Source } from '../../errors.js';
import { promised } from '../../maybe.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { type Box, boxContains, type Circle, withinRadius } from '../geo/geodesy.js';
import type { LocationView } from '../masking/masking.js';
import { codeKeyOf, createNetworkCodes } from '../network/code.js';
import { networkCodeOf } from '../network/code-lookup.js';
import { deviceKey, type Pair, serialKey } from './identity.js';
import { stationOf } from './order.js';
import { type SensorStatus, type StatusTime, statusOf } from './status.js';

/** All given conditions must hold for the merged values (docs/behaviour.md 6.3). An empty list matches nothing. */
export interface SensorFilter {
  readonly status?: SensorStatus | null | undefined;
  readonly statuses?: readonly SensorStatus[] | null | undefined;
  readonly networkId?: string | null | undefined;
  readonly networkCode?: string | null | undefined;
  readonly networkCodes?: readonly string[] | null | undefined;
  readonly stationCodes?: readonly string[] | null | undefined;
  /** Part of the station code, the Device ID or the name of the site. */
  readonly search?: string | null | undefined;
  readonly boundingBox?: Box | null | undefined;
  readonly within?: Circle | null | undefined;
  readonly source?: Source | null | undefined;
}

/**
 * The interface without which the filter cannot be answered, or null.
 * @throws NotConfigured when it is not configured
 */
export function neededSource(ctx: UnifyContext, { networkId, source }: SensorFilter): Source | null {
  // Only the catalogue has networks: a sensor that it does not have is in none.
  const needed = networkId != null ? 'CATALOGUE' : (source ?? null);
  if (networkId != null && source === 'PROJECT' && !ctx.project) throw notConfigured('PROJECT');
  if (needed === 'CATALOGUE' && !ctx.catalogue) throw notConfigured('CATALOGUE');
  if (needed === 'PROJECT' && !ctx.project) throw notConfigured('PROJECT');
  return needed;
}

export function filtersByPosition({ boundingBox, within }: SensorFilter): boolean {
  return boundingBox != null || within != null;
}

/** True where it must be known first which positions and names of sites may be shown. */
export function filtersByLocation(filter: SensorFilter): boolean {
  return filtersByPosition(filter) || textOf(filter) !== '';
}

export function filtersByNetworkCode({ networkCode, networkCodes }: SensorFilter): boolean {
  return networkCode != null || networkCodes != null;
}

export function matchesNothing({ stationCodes, statuses, networkCodes }: SensorFilter): boolean {
  return [stationCodes, statuses, networkCodes].some((choices) => choices?.length === 0);
}

/** Matches the whole filter except the network code, which may have to be learnt first. */
export function sensorMatcher(
  time: StatusTime,
  filter: SensorFilter,
  view: Pick<LocationView, 'positionOf' | 'siteNameOf'> | null,
): (pair: Pair) => boolean {
  const { status, networkId, boundingBox, within, source } = filter;
  const statuses = filter.statuses && new Set(filter.statuses);
  const stations = filter.stationCodes && new Set(filter.stationCodes.map((code) => code.trim()));
  const text = textOf(filter);
  const contains = text === '' ? null : textMatcher(text);
  return (pair) => {
    if (source === 'PROJECT' && !pair.project) return false;
    if (source === 'CATALOGUE' && !pair.catalogue) return false;
    if (stations && !stations.has(stationOf(pair))) return false;
    if (networkId != null && known(pair.catalogue?.value.network_id) !== networkId) return false;
    if (status && statusOf(time, pair) !== status) return false;
    if (statuses && !statuses.has(statusOf(time, pair))) return false;
    if (contains && !contains(pair, view?.siteNameOf(pair) ?? null)) return false;
    if (!view || !filtersByPosition(filter)) return true;
    const position = view.positionOf(pair);
    if (!position) return false;
    return (
      (!boundingBox || boxContains(boundingBox, position)) && (!within || withinRadius(within, position))
    );
  };
}

/** The text that is searched for, in lower case; empty where the filter searches for none. */
function textOf({ search }: SensorFilter): string {
  return search?.trim().toLowerCase() ?? '';
}

function textMatcher(text: string): (pair: Pair, siteName: string | null) => boolean {
  const key = serialKey(text);
  return (pair, siteName) =>
    stationOf(pair).toLowerCase().includes(text) ||
    (key !== null && pair.project !== null && deviceKey(pair.project).toUpperCase().includes(key)) ||
    (siteName?.toLowerCase().includes(text) ?? false);
}

export interface LearntCodes {
  /** Merged network code; null where a network has none, and where it is not known. */
  codeOf(pair: Pair): string | null;
  /** The failure because of which the code of some network is unknown; null when all are known. */
  readonly failure: unknown;
}

/** Network codes of sensors. Learns those that only the catalogue has, once for each network. */
export async function learnNetworkCodes(ctx: UnifyContext, pairs: readonly Pair[]): Promise<LearntCodes> {
  ctx.tracked(createNetworkCodes).note(ctx);
  const unknownCodes = new Map(
    pairs.flatMap(({ project, catalogue }) =>
      known(project?.value.network) === null && catalogue
        ? [[codeKeyOf(catalogue.value), catalogue.value]]
        : [],
    ),
  );
  const learntCodes = new Map<string, string | null>();
  let failure: unknown = null;
  await Promise.all(
    [...unknownCodes.values()].map((sensor) =>
      promised(() => networkCodeOf(ctx, sensor)).then(
        (code) => learntCodes.set(codeKeyOf(sensor), code),
        (error: unknown) => {
          ctx.scope.signal.throwIfAborted();
          failure = error;
        },
      ),
    ),
  );
  return {
    codeOf: ({ project, catalogue }) =>
      known(project?.value.network) ?? (catalogue && learntCodes.get(codeKeyOf(catalogue.value))) ?? null,
    failure,
  };
}

/** Matches the sensors in networks of the filter's codes. */
export function networkCodeMatcher(
  { networkCode, networkCodes }: SensorFilter,
  { codeOf }: LearntCodes,
): (pair: Pair) => boolean {
  const one = networkCode?.trim();
  const several = networkCodes && new Set(networkCodes.map((code) => code.trim()));
  return (pair) => {
    const code = codeOf(pair);
    return code !== null && (one === undefined || code === one) && (!several || several.has(code));
  };
}

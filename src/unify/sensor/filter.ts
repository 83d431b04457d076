import { notConfigured, type Source } from '../../errors.js';
import { promised } from '../../maybe.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { type Box, boxContains, type Circle, withinRadius } from '../geo/geodesy.js';
import type { PositionView } from '../masking/masking.js';
import { codeKeyOf, createNetworkCodes } from '../network/code.js';
import { networkCodeOf } from '../network/code-lookup.js';
import type { Pair } from './identity.js';
import { stationOf } from './order.js';
import { type SensorStatus, type StatusTime, statusOf } from './status.js';

/** All given conditions must hold for the merged values (docs/behaviour.md 6.3). An empty list matches nothing. */
export interface SensorFilter {
  readonly status?: SensorStatus | null | undefined;
  readonly networkId?: string | null | undefined;
  readonly networkCode?: string | null | undefined;
  /** Several of which one must hold, for a caller that has them. */
  readonly networkCodes?: readonly string[] | null | undefined;
  readonly stationCodes?: readonly string[] | null | undefined;
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

export function matchesNothing({ stationCodes }: SensorFilter): boolean {
  return stationCodes?.length === 0;
}

/** The codes of which the network must have one; null where it may have any. */
export function networkCodesOf({ networkCode, networkCodes }: SensorFilter): readonly string[] | null {
  return networkCodes ?? (networkCode == null ? null : [networkCode]);
}

/** Matches the whole filter except the network code, which may have to be learnt first. */
export function sensorMatcher(
  time: StatusTime,
  filter: SensorFilter,
  view: Pick<PositionView, 'positionOf'> | null,
): (pair: Pair) => boolean {
  const { status, networkId, boundingBox, within, source } = filter;
  const stations = filter.stationCodes && new Set(filter.stationCodes.map((code) => code.trim()));
  return (pair) => {
    if (source === 'PROJECT' && !pair.project) return false;
    if (source === 'CATALOGUE' && !pair.catalogue) return false;
    if (stations && !stations.has(stationOf(pair))) return false;
    if (networkId != null && known(pair.catalogue?.value.network_id) !== networkId) return false;
    if (status && statusOf(time, pair) !== status) return false;
    if (!view) return true;
    const position = view.positionOf(pair);
    if (!position) return false;
    return (
      (!boundingBox || boxContains(boundingBox, position)) && (!within || withinRadius(within, position))
    );
  };
}

export interface CodeFiltered<P extends Pair> {
  readonly pairs: readonly P[];
  /** The failure because of which the code of some network is unknown; null when all are known. */
  readonly failure: unknown;
}

/** The sensors in networks of these codes. Learns codes that only the catalogue has, once for each network. */
export async function inNetworks<P extends Pair>(
  ctx: UnifyContext,
  pairs: readonly P[],
  networkCodes: readonly string[],
): Promise<CodeFiltered<P>> {
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
  const codeOf = ({ project, catalogue }: Pair) =>
    known(project?.value.network) ?? (catalogue && learntCodes.get(codeKeyOf(catalogue.value)));
  const wanted = new Set<string | null | undefined>(networkCodes.map((code) => code.trim()));
  return { pairs: pairs.filter((pair) => wanted.has(codeOf(pair))), failure };
}

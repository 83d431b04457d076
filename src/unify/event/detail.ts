import { promised } from '../../maybe.js';
import type { WireEventDetail as CatalogueDetail } from '../../upstream/catalogue/wire.js';
import { known, type Num } from '../../upstream/decode/fields.js';
import type { WireEventDetail as ProjectDetail } from '../../upstream/project/wire.js';
import type { UnifyContext } from '../context.js';
import { distanceKm } from '../geo/geodesy.js';
import { publicPosition } from '../masking/masking.js';
import { isStationMasked } from '../masking/station.js';
import { sensorsOfStationCode } from '../sensor/lookup.js';
import type { Sensor } from '../sensor/sensor.js';
import { instantOf, type MaybeInstant } from '../time/wire-time.js';
import type { Event } from './merge.js';

/**
 * The catalogue's detail of the event; null for an event that the catalogue does not have. One request per event.
 * @throws the failure of the catalogue if its record of the event could not be read
 */
export async function catalogueDetail(ctx: UnifyContext, event: Event): Promise<CatalogueDetail | null> {
  const id = event.catalogueEventId;
  if (id === null || !ctx.catalogue) {
    if (event.failures.catalogue) throw event.failures.catalogue;
    return null;
  }
  return ctx
    .once(createDetails)
    .catalogue(id, async () => (await ctx.catalogue?.event(id, ctx.scope))?.value ?? null);
}

/**
 * The project's detail with every solution it issued, unconverted; null for an event that the project does not have.
 * One request per event.
 * @throws the failure of the project if its record of the event could not be read
 */
export async function projectDetail(ctx: UnifyContext, event: Event): Promise<ProjectDetail | null> {
  if (event.failures.project) throw event.failures.project;
  const id = event.projectEventId;
  if (id === null || !ctx.project) return null;
  return ctx
    .once(createDetails)
    .project(id, async () => (await ctx.project?.event(id, ctx.scope))?.value ?? null);
}

/** Arrival times of the waves of an earthquake at a station, from the catalogue. */
export interface Arrival {
  readonly stationCode: string;
  /**
   * Kilometres from the epicentre. Null for a masked sensor, as are the times: S minus P gives the distance
   * (docs/behaviour.md 6.4).
   */
  readonly distanceKm: Num;
  readonly pArrival: MaybeInstant;
  readonly sArrival: MaybeInstant;
}

/** Null when the catalogue has no arrivals. Costs the request for its detail. */
export async function arrivalsOf(ctx: UnifyContext, event: Event): Promise<readonly Arrival[] | null> {
  const stations = (await catalogueDetail(ctx, event))?.stations ?? null;
  if (!stations) return null;
  return Promise.all(
    stations.map(async (station) => {
      const stationCode = station.station_code;
      if (await isStationMasked(ctx, stationCode))
        return { stationCode, distanceKm: null, pArrival: null, sArrival: null };
      return {
        stationCode,
        distanceKm: station.distance_km,
        pArrival: instantOf(station.p_arrival),
        sArrival: instantOf(station.s_arrival),
      };
    }),
  );
}

/**
 * The sensor of an arrival. Of several sensors with its station code, the only one at the distance that the arrival
 * gives; else, of those not ruled out by distance, the one in the network of the event. Null when none fits.
 */
export async function sensorOfArrival(
  ctx: UnifyContext,
  event: Event,
  arrival: Arrival,
): Promise<Sensor | null> {
  const sensors = await sensorsOfStationCode(ctx, arrival.stationCode);
  if (sensors.length <= 1) return sensors[0] ?? null;
  const fits = await Promise.all(sensors.map((sensor) => isAtDistance(ctx, event, arrival, sensor)));
  const [only, another] = sensors.filter((_, index) => fits[index] === true);
  if (only && !another) return only;
  const networkId = known(event.networkId);
  for (const sensor of sensors.filter((_, index) => fits[index] !== false)) {
    const record = await sensor.catalogue();
    if (networkId !== null && known(record?.value.network_id) === networkId) return sensor;
  }
  return null;
}

/** Null when the distance or the position is not known. */
async function isAtDistance(
  ctx: UnifyContext,
  event: Event,
  arrival: Arrival,
  sensor: Sensor,
): Promise<boolean | null> {
  const position = await promised(() => publicPosition(ctx, sensor)).catch(() => null);
  if (known(arrival.distanceKm) === null || !event.solution || !position) return null;
  return mayBeFrom(arrival, distanceKm(event.solution, position));
}

/**
 * An arrival has no network code, so one with a very different distance belongs to another station of the same code.
 * Assumed: distances from two solutions of an earthquake differ by at most 20 km plus 2 %.
 */
export function mayBeFrom({ distanceKm }: Pick<Arrival, 'distanceKm'>, km: number): boolean {
  const arrivalKm = known(distanceKm);
  return arrivalKm === null || Math.abs(arrivalKm - km) <= 20 + 0.02 * km;
}

function createDetails() {
  const catalogue = new Map<string, Promise<CatalogueDetail | null>>();
  const project = new Map<string, Promise<ProjectDetail | null>>();
  return {
    catalogue: (id: string, read: () => Promise<CatalogueDetail | null>) => shared(catalogue, id, read),
    project: (id: string, read: () => Promise<ProjectDetail | null>) => shared(project, id, read),
  };
}

/** One read per id and operation, shared by all fields that need it. */
function shared<T>(reads: Map<string, Promise<T>>, id: string, read: () => Promise<T>): Promise<T> {
  const known = reads.get(id) ?? read();
  reads.set(id, known);
  return known;
}

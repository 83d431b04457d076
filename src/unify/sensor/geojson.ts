import { GatewayError } from '../../errors.js';
import { promised } from '../../maybe.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { normaliseLongitude } from '../geo/geodesy.js';
import { publicPosition } from '../masking/masking.js';
import type { PublicPosition } from '../masking/position.js';
import type { Sensor } from './sensor.js';
import type { SensorStatus } from './status.js';

/** RFC 7946: a position is longitude, latitude and, where it is known, elevation in metres. */
export interface SensorCollection {
  readonly type: 'FeatureCollection';
  readonly features: readonly SensorFeature[];
}

export interface SensorFeature {
  readonly type: 'Feature';
  readonly id: string;
  readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly number[] } | null;
  readonly properties: {
    readonly stationCode: string;
    readonly networkCode: string | null;
    readonly status: SensorStatus;
    /** True when the position is displaced; null without one. */
    readonly masked: boolean | null;
    /** A code of docs/behaviour.md 4 where the position may not be shown at present. */
    readonly withheld?: string;
  };
}

/** Sensors for a map, each at its public position. `idOf` makes a feature's id from a sensor's key. */
export async function sensorCollection(
  ctx: UnifyContext,
  sensors: readonly Sensor[],
  idOf: (key: string) => string,
): Promise<SensorCollection> {
  return {
    type: 'FeatureCollection',
    features: await Promise.all(sensors.map((sensor) => featureOf(ctx, sensor, idOf))),
  };
}

async function featureOf(
  ctx: UnifyContext,
  sensor: Sensor,
  idOf: (key: string) => string,
): Promise<SensorFeature> {
  const [key, stationCode, networkCode, status, position] = await Promise.all([
    sensor.key(),
    sensor.stationCode(),
    promised(() => sensor.networkCode()).catch(orNull(ctx)),
    sensor.status(),
    promised(() => publicPosition(ctx, sensor)).catch((error: unknown) => {
      ctx.scope.signal.throwIfAborted();
      if (error instanceof GatewayError) return error;
      throw error;
    }),
  ]);
  const withheld = position instanceof GatewayError ? { withheld: position.code } : {};
  const shown = position instanceof GatewayError ? null : position;
  return {
    type: 'Feature',
    id: idOf(key),
    geometry: shown && { type: 'Point', coordinates: coordinatesOf(shown) },
    properties: {
      stationCode,
      networkCode: known(networkCode),
      status,
      masked: shown?.masked ?? null,
      ...withheld,
    },
  };
}

function coordinatesOf({ longitude, latitude, elevationM }: PublicPosition): readonly number[] {
  const elevation = known(elevationM);
  return [normaliseLongitude(longitude), latitude, ...(elevation === null ? [] : [elevation])];
}

const orNull = (ctx: UnifyContext) => (): null => {
  ctx.scope.signal.throwIfAborted();
  return null;
};

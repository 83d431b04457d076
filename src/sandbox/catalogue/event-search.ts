import { distanceKm } from '../geodesy.js';
import { ParameterError, type Parameters } from '../http/parameters.js';
import type { CatalogueEvent } from './records.js';

/** The conditions of an event search (docs/interfaces.md C4), all of which must hold. Ends of ranges are included. */
export function eventFilter(
  query: Parameters,
  originMsOf: (event: CatalogueEvent) => number,
): (event: CatalogueEvent) => boolean {
  const networkId = query.text('network_id');
  const [startMs, endMs] = [query.isoTime('start'), query.isoTime('end')];
  const [minimum, maximum] = [query.number('min_magnitude'), query.number('max_magnitude')];
  const latitude = query.number('lat', { min: -90, max: 90 });
  const longitude = query.number('lon', { min: -180, max: 180 });
  const radiusKm = query.number('radius', { min: 0 });
  if (startMs !== undefined && endMs !== undefined && startMs > endMs) {
    throw new ParameterError('start', 'is after end', 'range');
  }
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    throw new ParameterError('min_magnitude', 'is above max_magnitude', 'range');
  }
  const given = [latitude, longitude, radiusKm].filter((value) => value !== undefined).length;
  if (given !== 0 && given !== 3) {
    throw new ParameterError('radius', 'needs lat and lon, and they need it');
  }
  return (event) => {
    if (networkId !== undefined && event.network_id !== networkId) return false;
    if (startMs !== undefined && !(originMsOf(event) >= startMs)) return false;
    if (endMs !== undefined && !(originMsOf(event) <= endMs)) return false;
    if (minimum !== undefined && !(event.magnitude !== null && event.magnitude >= minimum)) return false;
    if (maximum !== undefined && !(event.magnitude !== null && event.magnitude <= maximum)) return false;
    if (latitude === undefined || longitude === undefined || radiusKm === undefined) return true;
    return distanceKm({ latitude, longitude }, event) <= radiusKm;
  };
}

export const eventConditions = [
  'network_id',
  'start',
  'end',
  'min_magnitude',
  'max_magnitude',
  'lat',
  'lon',
  'radius',
];

import { known } from '../../upstream/decode/fields.js';
import { normaliseLongitude } from '../geo/geodesy.js';
import type { LocatedEvent } from './merge.js';

/**
 * A page of events as a FeatureCollection (RFC 7946) with the property names of the USGS feeds, so that clients of
 * those can draw it. Coordinates are longitude, latitude and depth in kilometres, as in those feeds. `idOf` makes a
 * feature's id from an event's key.
 */
export function eventGeoJson(events: readonly LocatedEvent[], idOf: (key: string) => string): object {
  return { type: 'FeatureCollection', features: events.map((event) => featureOf(event, idOf)) };
}

function featureOf(event: LocatedEvent, idOf: (key: string) => string): object {
  const { originTime, latitude, longitude } = event.solution;
  const depthKm = known(event.depthKm);
  const mag = known(event.magnitude);
  const place = known(event.place);
  const ids = [event.projectEventId, event.catalogueEventId].filter((id) => id !== null);
  return {
    type: 'Feature',
    id: idOf(event.key),
    geometry: {
      type: 'Point',
      // RFC 7946 §4: longitudes of WGS 84, from -180 to 180.
      coordinates: [normaliseLongitude(longitude), latitude, ...(depthKm === null ? [] : [depthKm])],
    },
    properties: {
      mag,
      place,
      time: Math.floor(originTime.ms),
      magType: known(event.magnitudeType),
      type: 'earthquake',
      ids: `,${[...new Set(ids)].join(',')},`,
      status: known(event.status),
      title: titleOf(mag, place),
    },
  };
}

function titleOf(mag: number | null, place: string | null): string {
  const size = mag === null ? 'M ?' : `M ${mag.toFixed(1)}`;
  return place === null ? size : `${size} - ${place}`;
}

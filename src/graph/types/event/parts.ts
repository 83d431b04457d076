import { type Arrival, sensorOfArrival } from '../../../unify/event/detail.js';
import type { Event } from '../../../unify/event/merge.js';
import { type Solution, unixInstant } from '../../../unify/event/solution.js';
import type { WireEventDetail as CatalogueDetail } from '../../../upstream/catalogue/wire.js';
import type { WireEventDetail as ProjectDetail, WireEvent } from '../../../upstream/project/wire.js';
import { builder } from '../../builder.js';
import { shown, shownCount } from '../../errors/malformed.js';
import { SensorRef } from '../../refs.js';

/** Object types nested in an event. */

export interface ProjectOrigin {
  readonly solution: Solution;
  readonly origin: WireEvent['origin'];
}

export const OriginRef = builder.objectRef<ProjectOrigin>('Origin').implement({
  description: 'A location solution of an earthquake by the project: its origin time, epicentre and depth.',
  fields: (t) => ({
    originId: t.string({
      description: 'Identifier that the project gives to this solution; null when it gives none.',
      resolve: ({ origin }) => shown(origin?.id ?? null),
    }),
    latitude: t.float({
      nullable: false,
      description: 'Latitude of the epicentre in degrees north (WGS 84), from -90 to 90.',
      resolve: ({ solution }) => solution.latitude,
    }),
    longitude: t.float({
      nullable: false,
      description: 'Longitude of the epicentre in degrees east (WGS 84), from -180 to 180.',
      resolve: ({ solution }) => solution.longitude,
    }),
    depthKm: t.float({
      description: 'Depth of the hypocentre in kilometres; null when the solution has none.',
      resolve: ({ origin }) => shown(origin?.depth ?? null),
    }),
    originTime: t.field({
      type: 'DateTime',
      nullable: false,
      description: 'Origin time: the moment at which the rupture began.',
      resolve: ({ solution }) => solution.originTime,
    }),
    issuedAt: t.field({
      type: 'DateTime',
      description: 'Time at which this solution was issued; null when the project does not say.',
      resolve: ({ origin }) => shown(unixInstant(origin?.issued_at ?? null)),
    }),
  }),
});

export const EventQualityRef = builder
  .objectRef<NonNullable<CatalogueDetail['quality']>>('EventQuality')
  .implement({
    description:
      "Quality of the catalogue's location of an earthquake. Each value is null when the catalogue " +
      'does not give it.',
    fields: (t) => ({
      stationsUsed: t.int({
        description: 'Number of stations used for the location; 0 or more.',
        resolve: (quality) => shownCount(quality.stations_used),
      }),
      azimuthalGapDeg: t.float({
        description:
          'Azimuthal gap: the largest angle between neighbouring stations, seen from the epicentre, in ' +
          'degrees from 0 to 360. A smaller gap means a better constrained epicentre.',
        resolve: (quality) => shown(quality.azimuthal_gap),
      }),
      rmsResidualS: t.float({
        description: 'Root mean square of the travel-time residuals, in seconds; 0 or more.',
        resolve: (quality) => shown(quality.rms_residual),
      }),
    }),
  });

export interface ArrivalOfEvent {
  readonly event: Event;
  readonly arrival: Arrival;
}

export const ArrivalRef = builder.objectRef<ArrivalOfEvent>('Arrival').implement({
  description:
    "Arrival of an earthquake's P and S waves at one station, by the catalogue's location. Distance " +
    'and times are null for a sensor under location masking, because they would reveal where it stands.',
  fields: (t) => ({
    stationCode: t.string({
      nullable: false,
      description: 'Station code, as the catalogue writes it.',
      resolve: ({ arrival }) => arrival.stationCode,
    }),
    distanceKm: t.float({
      description:
        'Distance from the epicentre to the station in kilometres; null when the catalogue gives none, ' +
        'and for a sensor under location masking.',
      resolve: ({ arrival }) => shown(arrival.distanceKm),
    }),
    pArrival: t.field({
      type: 'DateTime',
      description:
        'Arrival time of the P wave; null when the catalogue gives none, and for a sensor under ' +
        'location masking.',
      resolve: ({ arrival }) => shown(arrival.pArrival),
    }),
    sArrival: t.field({
      type: 'DateTime',
      description:
        'Arrival time of the S wave; null when the catalogue gives none, and for a sensor under ' +
        'location masking.',
      resolve: ({ arrival }) => shown(arrival.sArrival),
    }),
    sensor: t.field({
      type: SensorRef,
      description:
        'Sensor at the station. Where several sensors have this station code, it is the one at this ' +
        'distance from the epicentre, else the one in the network of the earthquake; null when that ' +
        'leaves none or more than one.',
      resolve: ({ event, arrival }, _, { unify }) => sensorOfArrival(unify, event, arrival),
    }),
  }),
});

export const EventSolutionsRef = builder.objectRef<ProjectDetail>('EventSolutions').implement({
  description:
    'Every solution that the project has issued for an earthquake, in five lists. The service does not ' +
    'document the layout of their elements, so they are passed on unchanged.',
  fields: (t) => ({
    origins: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: "Location solutions in the project's own layout; empty when there are none.",
      resolve: (detail) => present(detail.origins),
    }),
    magnitudes: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: "Magnitudes in the project's own layout; empty when there are none.",
      resolve: (detail) => present(detail.magnitudes),
    }),
    picks: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: "Phase picks in the project's own layout; empty when there are none.",
      resolve: (detail) => present(detail.picks),
    }),
    amplitudes: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: "Amplitudes in the project's own layout; empty when there are none.",
      resolve: (detail) => present(detail.amplitudes),
    }),
    descriptions: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description:
        "Textual descriptions of the earthquake in the project's own layout; empty when there are none.",
      resolve: (detail) => present(detail.descriptions),
    }),
  }),
});

function present(solutions: readonly unknown[] | null): unknown[] {
  return (solutions ?? []).filter((solution) => solution !== null && solution !== undefined);
}

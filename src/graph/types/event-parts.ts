import type { Event } from '../../unify/event.js';
import { type Arrival, sensorOfArrival } from '../../unify/event-detail.js';
import { type Solution, unixInstant } from '../../unify/event-solution.js';
import type { WireEventDetail as CatalogueDetail } from '../../upstream/catalogue/wire.js';
import type { WireEventDetail as ProjectDetail, WireEvent } from '../../upstream/project/wire.js';
import { builder } from '../builder.js';
import { shown, shownCount } from '../malformed.js';
import { SensorRef } from '../refs.js';

/** What an event consists of beside its own values. */

export interface ProjectOrigin {
  readonly solution: Solution;
  readonly origin: WireEvent['origin'];
}

export const OriginRef = builder.objectRef<ProjectOrigin>('Origin').implement({
  description: 'A location of an earthquake by the project: when and where it began (key-scoped §2).',
  fields: (t) => ({
    originId: t.string({
      description: "The project's identifier of this solution.",
      resolve: ({ origin }) => shown(origin?.id ?? null),
    }),
    latitude: t.float({
      nullable: false,
      description: 'Degrees north.',
      resolve: ({ solution }) => solution.latitude,
    }),
    longitude: t.float({
      nullable: false,
      description: 'Degrees east.',
      resolve: ({ solution }) => solution.longitude,
    }),
    depthKm: t.float({
      description: 'Depth in kilometres.',
      resolve: ({ origin }) => shown(origin?.depth ?? null),
    }),
    originTime: t.field({
      type: 'DateTime',
      nullable: false,
      description: 'When the earthquake began.',
      resolve: ({ solution }) => solution.originTime,
    }),
    issuedAt: t.field({
      type: 'DateTime',
      description: 'When this solution was issued.',
      resolve: ({ origin }) => shown(unixInstant(origin?.issued_at ?? null)),
    }),
  }),
});

export const EventQualityRef = builder
  .objectRef<NonNullable<CatalogueDetail['quality']>>('EventQuality')
  .implement({
    description: "How well constrained the catalogue's solution is (catalogue §2).",
    fields: (t) => ({
      stationsUsed: t.int({
        description: 'Number of stations that it rests on.',
        resolve: (quality) => shownCount(quality.stations_used),
      }),
      azimuthalGapDeg: t.float({
        description: 'Largest angle without a station, as seen from the epicentre, in degrees.',
        resolve: (quality) => shown(quality.azimuthal_gap),
      }),
      rmsResidualS: t.float({
        description: 'Root mean square of the travel-time residuals, in seconds.',
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
    "Arrival of an earthquake's waves at a station, by the catalogue's solution. Distance and times are null for a " +
    'station whose sensor is masked: they would locate it.',
  fields: (t) => ({
    stationCode: t.string({
      nullable: false,
      description: 'Station code, as the catalogue writes it.',
      resolve: ({ arrival }) => arrival.stationCode,
    }),
    distanceKm: t.float({
      description: 'From the epicentre, in kilometres; null for a masked sensor.',
      resolve: ({ arrival }) => shown(arrival.distanceKm),
    }),
    pArrival: t.field({
      type: 'DateTime',
      description: 'Of the P wave; null for a masked sensor.',
      resolve: ({ arrival }) => shown(arrival.pArrival),
    }),
    sArrival: t.field({
      type: 'DateTime',
      description: 'Of the S wave; null for a masked sensor.',
      resolve: ({ arrival }) => shown(arrival.sArrival),
    }),
    sensor: t.field({
      type: SensorRef,
      description:
        "The sensor at the station; of several under one code the one at this distance, else in the event's network, " +
        'else null.',
      resolve: ({ event, arrival }, _, { unify }) => sensorOfArrival(unify, event, arrival),
    }),
  }),
});

export const EventSolutionsRef = builder.objectRef<ProjectDetail>('EventSolutions').implement({
  description:
    'Every solution the project issued for an event, verbatim: its layout is not documented (key-scoped §2).',
  fields: (t) => ({
    origins: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: 'Locations, as upstream wrote them.',
      resolve: (detail) => present(detail.origins),
    }),
    magnitudes: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: 'Magnitudes, as upstream wrote them.',
      resolve: (detail) => present(detail.magnitudes),
    }),
    picks: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: 'Phase picks, as upstream wrote them.',
      resolve: (detail) => present(detail.picks),
    }),
    amplitudes: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: 'Amplitudes, as upstream wrote them.',
      resolve: (detail) => present(detail.amplitudes),
    }),
    descriptions: t.field({
      type: ['JSON'],
      nullable: { list: false, items: false },
      description: 'Descriptions, as upstream wrote them.',
      resolve: (detail) => present(detail.descriptions),
    }),
  }),
});

function present(solutions: readonly unknown[] | null): unknown[] {
  return (solutions ?? []).filter((solution) => solution !== null && solution !== undefined);
}

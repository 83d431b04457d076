import type { SensorFilter } from '../../unify/sensor-filter.js';
import { sensorCollection } from '../../unify/sensor-geojson.js';
import { listSensors, type SensorListArgs, type SensorSlice } from '../../unify/sensor-list.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { encodeNodeId } from '../node-id.js';
import { SensorRef } from '../refs.js';
import { bothWaysArgs, defaultFirst, SourceEnum, UnavailableSourceRef } from './connection.js';
import { BoundingBoxInput, RadiusInput } from './geography.js';
import { SensorStatusEnum } from './sensor.js';

const SensorFilterInput = builder.inputType('SensorFilter', {
  description: 'Which sensors. All that is given must hold, of the values that this graph shows.',
  fields: (t) => ({
    status: t.field({ type: SensorStatusEnum, description: 'Status as of this response.' }),
    networkId: t.string({ description: "Identifier of the catalogue's network." }),
    networkCode: t.string({ description: 'Seismic network code.' }),
    stationCodes: t.stringList({ description: 'Any of these station codes; none of them matches nothing.' }),
    boundingBox: t.field({
      type: BoundingBoxInput,
      description: 'Position inside this box, edges included.',
    }),
    within: t.field({ type: RadiusInput, description: 'Position within this distance of a place.' }),
    source: t.field({
      type: SourceEnum,
      description: 'Only sensors that this interface knows, alone or with the other.',
    }),
  }),
});

export const SensorConnection = builder.connectionObject<typeof SensorRef, SensorSlice>(
  {
    type: SensorRef,
    name: 'SensorConnection',
    description: 'One page of sensors.',
    fields: (t) => ({
      geoJson: t.field({
        type: 'JSON',
        nullable: false,
        description:
          'This page as a GeoJSON FeatureCollection (RFC 7946), for a map. A sensor without a position that may be shown ' +
          'has a null geometry; the ids are global ids.',
        resolve: (slice, _, { unify }) =>
          sensorCollection(
            unify,
            slice.edges.map(({ node }) => node),
            (key) => encodeNodeId('Sensor', key),
          ),
      }),
      totalCount: t.exposeInt('totalCount', {
        description: 'How many there are on all pages; null where an interface could not answer.',
      }),
      unavailableSources: t.field({
        type: [UnavailableSourceRef],
        nullable: false,
        description: 'Interfaces that could not answer, so that the list may lack what only they know.',
        resolve: (slice) => [...slice.unavailableSources],
      }),
    }),
  },
  { name: 'SensorEdge', description: 'A sensor and its place in the list.' },
);

export function sensorListArgs() {
  return {
    filter: builder.args((t) => ({
      filter: t.field({ type: SensorFilterInput, description: 'Which sensors; all when left out.' }),
    })).filter,
    ...bothWaysArgs(),
  };
}

/** One list page of each interface; more where there are more sensors than a page holds, then kept. */
export const sensorListCost = cost<SensorListArgs>({
  requests: () => 2,
  items: ({ first, last }) => first ?? last ?? defaultFirst,
});

builder.queryField('sensors', (t) =>
  t.field({
    type: SensorConnection,
    description:
      'Sensors of both interfaces, each once. Ordered by station code, then network code. Null with the error where none ' +
      'of the interfaces that could answer can.',
    args: sensorListArgs(),
    extensions: sensorListCost,
    resolve: (_, args, { unify }) => listSensors(unify, args),
  }),
);

/** A list of sensors within a network: the network of the filter is that one. */
export function inNetwork(filter: SensorFilter | null | undefined, networkId: string): SensorFilter {
  return { ...filter, networkId };
}

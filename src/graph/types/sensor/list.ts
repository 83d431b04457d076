import { z } from 'zod';
import { limits } from '../../../limits.js';
import { countOf } from '../../../unify/paging.js';
import { filtersByLocation } from '../../../unify/sensor/filter.js';
import { sensorCollection } from '../../../unify/sensor/geojson.js';
import { listSensors, type SensorListArgs, type SensorSlice } from '../../../unify/sensor/list.js';
import { defaultOrder, type SensorOrder } from '../../../unify/sensor/list-order.js';
import { builder } from '../../builder.js';
import { cost } from '../../limits/cost.js';
import { encodeNodeId } from '../../node-id.js';
import { SensorRef } from '../../refs.js';
import { bothWaysArgs, SourceEnum, UnavailableSourceRef } from '../connection.js';
import { changesCursor } from '../delivery-fields.js';
import { BoundingBoxInput, RadiusInput } from '../geography.js';
import { SensorStatusEnum } from './sensor.js';

const searchMessage = `must have ${limits.searchCharacters} characters at most`;

const SensorFilterInput = builder.inputType('SensorFilter', {
  description:
    'Selection of sensors. A sensor must meet every condition given; the conditions compare the values ' +
    'that this graph shows, merged from both interfaces.',
  fields: (t) => ({
    status: t.field({
      type: SensorStatusEnum,
      description: 'Status of the sensor at the time of the response.',
    }),
    statuses: t.field({
      type: [SensorStatusEnum],
      description:
        'Statuses, of which the sensor must have one at the time of the response. An empty list selects ' +
        'nothing.',
    }),
    networkId: t.string({
      description:
        "Catalogue identifier of the sensor's network, as in `Network.networkId`. Error: " +
        'NOT_CONFIGURED without the catalogue interface.',
    }),
    networkCode: t.string({ description: 'Seismic network code; case matters.' }),
    networkCodes: t.stringList({
      description:
        'Seismic network codes, of which the sensor must have one; case matters. An empty list selects ' +
        'nothing.',
    }),
    stationCodes: t.stringList({
      description:
        'Station codes, of which the sensor must have one; case matters. An empty list selects nothing.',
    }),
    search: t.string({
      validate: z.string().max(limits.searchCharacters, searchMessage).nullish(),
      description:
        'Text that the station code, the Device ID or the name of the site must contain, in any case; ' +
        'spaces around it are ignored, and in a Device ID separators too. The name of a site counts ' +
        'where the project interface gives it and location masking permits to show it. An empty text ' +
        `selects all. Error: BAD_USER_INPUT for more than ${limits.searchCharacters} characters.`,
    }),
    boundingBox: t.field({
      type: BoundingBoxInput,
      description:
        'Box in which the position must lie, its edges included. A sensor without a position that may ' +
        'be shown is left out.',
    }),
    within: t.field({
      type: RadiusInput,
      description:
        'Circle in which the position must lie, its edge included. A sensor without a position that ' +
        'may be shown is left out.',
    }),
    source: t.field({
      type: SourceEnum,
      description:
        'Interface that must know the sensor, alone or together with the other one. Error: ' +
        'NOT_CONFIGURED when it is not configured.',
    }),
  }),
});

const SensorOrderEnum = builder.enumType('SensorOrder', {
  description:
    'Order of a list of sensors. Codes are compared by their characters, times to their last digit. ' +
    'Sensors without a known network code or time come last in either direction.',
  values: {
    STATION_CODE_ASC: { description: 'By station code from A to Z, then by network code.' },
    STATION_CODE_DESC: { description: 'By station code from Z to A, then by network code.' },
    NETWORK_CODE_ASC: { description: 'By network code from A to Z, then by station code.' },
    NETWORK_CODE_DESC: { description: 'By network code from Z to A, then by station code.' },
    LAST_SEEN_AT_ASC: {
      description:
        'The sensor that has been silent for longest comes first. A sensor that reports while the pages ' +
        'are read moves to the end: with `first` and `after` it may come again and none is skipped, with `last` ' +
        'and `before` it may be skipped and none comes twice.',
    },
    LAST_SEEN_AT_DESC: {
      description:
        'The sensor that was in contact last comes first. A sensor that reports while the pages are read ' +
        'moves to the beginning: with `first` and `after` it may be skipped and none comes twice, with `last` ' +
        'and `before` it may come again and none is skipped.',
    },
  } as const satisfies Record<SensorOrder, object>,
});

export const SensorConnection = builder.connectionObject<typeof SensorRef, SensorSlice>(
  {
    type: SensorRef,
    name: 'SensorConnection',
    description: 'One page of a list of sensors.',
    fields: (t) => ({
      geoJson: t.field({
        type: 'JSON',
        nullable: false,
        description:
          'Sensors of this page as a GeoJSON FeatureCollection (RFC 7946) for a map. Coordinates are ' +
          'longitude and latitude in degrees and, where it is known, elevation in metres; the geometry ' +
          'is null for a sensor without a position that may be shown. Feature ids are global ids; ' +
          'properties are stationCode, networkCode, status, masked and, where a position cannot be ' +
          'shown at present, withheld (an error code).',
        resolve: (slice, _, { unify }) =>
          sensorCollection(
            unify,
            slice.edges.map(({ node }) => node),
            (key) => encodeNodeId('Sensor', key),
          ),
      }),
      totalCount: t.exposeInt('totalCount', {
        description: 'Number of sensors on all pages together; null when an interface could not answer.',
      }),
      changesCursor: t.string(
        changesCursor({
          description:
            'Cursor for the argument `after` of `sensorStatusChanges`, with which the subscription ' +
            'continues this list: it begins with the changes that this page does not show yet, however ' +
            'much time passes between the two, those of sensors on other pages included. Null with an error ' +
            'while the list of the interface that the feed polls cannot be read to its end.',
          requests: 0,
          resolve: (slice: SensorSlice, { unify, feeds }) => feeds.cursorAfterSensors(unify, slice),
        }),
      ),
      unavailableSources: t.field({
        type: [UnavailableSourceRef],
        nullable: false,
        description:
          'Interfaces that could not answer, so that sensors known to them alone may be missing; empty ' +
          'when the list is complete.',
        resolve: (slice) => [...slice.unavailableSources],
      }),
    }),
  },
  { name: 'SensorEdge', description: 'A sensor with its cursor in the list.' },
);

export function sensorListArgs() {
  return {
    ...builder.args((t) => ({
      filter: t.field({ type: SensorFilterInput, description: 'Selection of sensors; the default is all.' }),
      orderBy: t.field({
        type: SensorOrderEnum,
        required: true,
        defaultValue: defaultOrder,
        description: 'Order of the list; the default is by station code from A to Z, then by network code.',
      }),
    })),
    ...bothWaysArgs(),
  };
}

/**
 * One list page of each interface, and the masking setting where the filter compares positions or names of sites. With
 * more sensors than a page holds it takes more, which are then cached, as are the codes of networks for a day.
 */
export const sensorListCost = cost<SensorListArgs>({
  requests: ({ filter }) => (filter && filtersByLocation(filter) ? 3 : 2),
  items: (args, { sensors }) => Math.min(countOf(args), sensors),
});

builder.queryField('sensors', (t) =>
  t.field({
    type: SensorConnection,
    description:
      'Sensors of both interfaces, each once, in exact order. Null ' +
      'with an error when none of the interfaces could answer. Errors: BAD_USER_INPUT, CURSOR_INVALID, ' +
      'NOT_CONFIGURED, FORBIDDEN, UPSTREAM_RATE_LIMITED, UPSTREAM_TIMEOUT, UPSTREAM_UNAVAILABLE.',
    args: sensorListArgs(),
    extensions: sensorListCost,
    resolve: (_, args, { unify }) => listSensors(unify, args),
  }),
);

import { limits } from '../../../limits.js';
import { eventGeoJson } from '../../../unify/event/geojson.js';
import { type EventListArgs, type EventSlice, listEvents, noEvents } from '../../../unify/event/list/list.js';
import { inNetwork } from '../../../unify/network/network.js';
import { countOf, isBackward } from '../../../unify/paging.js';
import { builder } from '../../builder.js';
import { cost } from '../../limits/cost.js';
import { encodeNodeId } from '../../node-id.js';
import { EventRef, NetworkRef } from '../../refs.js';
import { bothWaysArgs, SourceEnum, UnavailableSourceRef } from '../connection.js';
import { changesCursor } from '../delivery-fields.js';
import { BoundingBoxInput, RadiusInput } from '../geography.js';

const EventFilterInput = builder.inputType('EventFilter', {
  description:
    'Selection of earthquakes. An earthquake must meet every condition given; the conditions compare ' +
    'the values that this graph shows, merged from both interfaces.',
  fields: (t) => ({
    from: t.field({
      type: 'DateTime',
      description: 'Earliest origin time, included. Error: BAD_USER_INPUT when it is later than `to`.',
    }),
    to: t.field({ type: 'DateTime', description: 'Latest origin time, included.' }),
    issuedFrom: t.field({
      type: 'DateTime',
      description:
        "Earliest time of issue of the project's latest solution, included: selects what is new or " +
        'revised since then. Earthquakes that only the catalogue knows have no time of issue and are ' +
        'left out. Error: BAD_USER_INPUT when it is later than `issuedTo`; NOT_CONFIGURED without the ' +
        'project interface.',
    }),
    issuedTo: t.field({
      type: 'DateTime',
      description:
        "Latest time of issue of the project's latest solution, included. Earthquakes that only the " +
        'catalogue knows are left out. Error: NOT_CONFIGURED without the project interface.',
    }),
    minMagnitude: t.float({
      description:
        'Least magnitude, included; an earthquake without a magnitude is left out. Error: ' +
        'BAD_USER_INPUT when it is greater than `maxMagnitude`.',
    }),
    maxMagnitude: t.float({
      description: 'Greatest magnitude, included; an earthquake without a magnitude is left out.',
    }),
    minDepthKm: t.float({
      description:
        'Least depth in kilometres, included; an earthquake without a depth is left out. Error: ' +
        'BAD_USER_INPUT when it is greater than `maxDepthKm`.',
    }),
    maxDepthKm: t.float({
      description: 'Greatest depth in kilometres, included; an earthquake without a depth is left out.',
    }),
    boundingBox: t.field({
      type: BoundingBoxInput,
      description:
        'Box in which the epicentre must lie, its edges included. Together with `within`, the ' +
        'epicentre must lie in both.',
    }),
    within: t.field({
      type: RadiusInput,
      description: 'Circle in which the epicentre must lie, its edge included.',
    }),
    networkId: t.string({
      description:
        'Catalogue identifier of the network that the earthquake is assigned to, as in ' +
        '`Network.networkId`. Error: NOT_CONFIGURED without the catalogue interface.',
    }),
    source: t.field({
      type: SourceEnum,
      description:
        'Interface that must know the earthquake, alone or together with the other one. Error: ' +
        'NOT_CONFIGURED when it is not configured.',
    }),
  }),
});

const EventOrderEnum = builder.enumType('EventOrder', {
  description: 'Order of a list of earthquakes by origin time, compared to its last digit.',
  values: {
    ORIGIN_TIME_DESC: { description: 'The latest origin time comes first.' },
    ORIGIN_TIME_ASC: { description: 'The earliest origin time comes first.' },
  } as const,
});

const EventConnection = builder.connectionObject<typeof EventRef, EventSlice>(
  {
    type: EventRef,
    name: 'EventConnection',
    description: 'One page of a list of earthquakes.',
    fields: (t) => ({
      geoJson: t.field({
        type: 'JSON',
        nullable: false,
        description:
          'Earthquakes of this page as a GeoJSON FeatureCollection (RFC 7946) for a map. Coordinates ' +
          'are longitude and latitude in degrees and, where it is known, depth in kilometres. ' +
          'Feature ids are global ids; properties are named as in the feeds of the USGS: mag, place, ' +
          'time (milliseconds since 1970), magType, type, ids, status and title.',
        resolve: (slice) =>
          eventGeoJson(
            slice.edges.map(({ node }) => node),
            (key) => encodeNodeId('Event', key),
          ),
      }),
      changesCursor: t.string(
        changesCursor({
          description:
            'Cursor for the argument `after` of `eventChanges`, with which the subscription continues this ' +
            'list: the two together have every solution of an earthquake that is issued, however much time ' +
            'passes between them. An earthquake that the list shows is not delivered again before its next ' +
            'solution. It is meant for a list that reaches up to the newest earthquake. While the feed has ' +
            'no subscribers it costs one request to each interface.',
          requests: 2,
          resolve: (slice: EventSlice, { unify, feeds }) => feeds.cursorAfterEvents(unify, slice),
        }),
      ),
      unavailableSources: t.field({
        type: [UnavailableSourceRef],
        nullable: { list: false, items: false },
        description:
          'Interfaces that could not answer, so that earthquakes known to them alone may be missing; ' +
          'empty when the list is complete. An entry with code QUERY_TOO_COMPLEX stands for a part ' +
          'that would have taken too many requests.',
        resolve: (slice) => [...slice.unavailableSources],
      }),
    }),
  },
  { name: 'EventEdge', description: 'An earthquake with its cursor in the list.' },
);

function eventListArgs() {
  return {
    ...builder.args((t) => ({
      filter: t.field({
        type: EventFilterInput,
        description: 'Selection of earthquakes; the default is all.',
      }),
      orderBy: t.field({
        type: EventOrderEnum,
        required: true,
        defaultValue: 'ORIGIN_TIME_DESC',
        description: 'Order of the list; the default is the latest origin time first.',
      }),
    })),
    ...bothWaysArgs(),
  };
}

const eventListCost = cost<EventListArgs>({
  requests: (args, parents) => requestsOf(args) * parents,
  items: (args) => countOf(args),
});

/**
 * A page that is read in the order of both upstream lists takes a few requests. A filter without pushdown, or reading the
 * oldest first, needs a scan: at worst as many requests as one page may use.
 */
function requestsOf({ filter, orderBy, ...page }: EventListArgs): number {
  const { from: _, boundingBox: __, within: ___, ...others } = filter ?? {};
  const isNewestFirst = (orderBy === 'ORIGIN_TIME_DESC') !== isBackward(page);
  const isInOrder = isNewestFirst && Object.values(others).every((value) => value == null);
  return isInOrder ? 4 + Math.ceil(countOf(page) / 85) : 2 * limits.eventPageRequests;
}

builder.queryField('events', (t) =>
  t.field({
    type: EventConnection,
    description:
      'Earthquakes of both interfaces, each once, in exact order of origin time. The pages, read ' +
      'one after another, neither repeat nor skip an earthquake while new ones are issued. A page may have fewer ' +
      'records than `first` although `hasNextPage` is true, or than `last` although `hasPreviousPage` ' +
      'is, where finding more would take too many requests to the service: continue from `endCursor` or ' +
      '`startCursor`, or narrow `filter`. Null with an error when ' +
      'none of the interfaces could answer. Errors: BAD_USER_INPUT, CURSOR_INVALID, NOT_CONFIGURED; ' +
      'FORBIDDEN on a plan without earthquake detection; UPSTREAM_RATE_LIMITED, UPSTREAM_TIMEOUT, ' +
      'UPSTREAM_UNAVAILABLE.',
    args: eventListArgs(),
    extensions: eventListCost,
    resolve: (_, args, { unify }) => listEvents(unify, args),
  }),
);

builder.objectFields(NetworkRef, (t) => ({
  events: t.field({
    type: EventConnection,
    description:
      'Earthquakes that the catalogue assigns to this network, in exact order of origin time; paged as ' +
      '`Query.events`, with the same errors.',
    args: eventListArgs(),
    extensions: eventListCost,
    resolve: ({ networkId }, { filter, ...args }, { unify }) => {
      const within = inNetwork(filter, networkId);
      return within ? listEvents(unify, { ...args, filter: within }) : noEvents(unify, args);
    },
  }),
}));

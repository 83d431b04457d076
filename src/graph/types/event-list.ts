import { listEvents } from '../../unify/event.js';
import type { EventFilter } from '../../unify/event-filter.js';
import { eventGeoJson } from '../../unify/event-geojson.js';
import { mostRequests } from '../../unify/event-list/scans.js';
import type { LocatedEvent } from '../../unify/event-merge.js';
import { type Slice, sliceOf } from '../../unify/paging.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { EventRef, NetworkRef } from '../refs.js';
import { defaultFirst, forwardArgs, SourceEnum, UnavailableSourceRef } from './connection.js';
import { BoundingBoxInput, RadiusInput } from './geography.js';

const EventFilterInput = builder.inputType('EventFilter', {
  description: 'Which events. All that is given must hold, of the merged values that this graph shows.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: 'Origin time, at or after.' }),
    to: t.field({ type: 'DateTime', description: 'Origin time, at or before.' }),
    issuedFrom: t.field({
      type: 'DateTime',
      description:
        "Issue time of the project's latest solution, at or after: what is new or revised since. Leaves out events " +
        'that only the catalogue knows, which have none.',
    }),
    issuedTo: t.field({ type: 'DateTime', description: 'Issue time, at or before.' }),
    minMagnitude: t.float({ description: 'Magnitude at least; an event without one is left out.' }),
    maxMagnitude: t.float({ description: 'Magnitude at most; an event without one is left out.' }),
    minDepthKm: t.float({ description: 'Depth at least, in kilometres; an event without one is left out.' }),
    maxDepthKm: t.float({ description: 'Depth at most, in kilometres; an event without one is left out.' }),
    boundingBox: t.field({
      type: BoundingBoxInput,
      description:
        'Epicentre inside this box, edges included. minLongitude greater than maxLongitude crosses the antimeridian. ' +
        'With `within` too: both must hold.',
    }),
    within: t.field({ type: RadiusInput, description: 'Epicentre within this distance of a place.' }),
    networkId: t.string({ description: "Identifier of the catalogue's network." }),
    source: t.field({
      type: SourceEnum,
      description: 'Only events that this interface knows, alone or with the other.',
    }),
  }),
});

const EventOrderEnum = builder.enumType('EventOrder', {
  description: 'Order of events, by origin time to its last digit.',
  values: {
    ORIGIN_TIME_DESC: { description: 'Latest first.' },
    ORIGIN_TIME_ASC: { description: 'Earliest first.' },
  } as const,
});

const EventConnection = builder.connectionObject<typeof EventRef, Slice<LocatedEvent>>(
  {
    type: EventRef,
    name: 'EventConnection',
    description: 'One page of events.',
    fields: (t) => ({
      geoJson: t.field({
        type: 'JSON',
        nullable: false,
        description:
          'This page as a GeoJSON FeatureCollection (RFC 7946), for a map: properties as in the feeds of USGS (mag, ' +
          'place, time in epoch milliseconds, magType, type, ids, title); coordinates with the depth in kilometres.',
        resolve: (slice) => eventGeoJson(slice.edges.map(({ node }) => node)),
      }),
      unavailableSources: t.field({
        type: [UnavailableSourceRef],
        nullable: { list: false, items: false },
        description:
          'Interfaces that could not answer, so that the list may lack what only they know; with code ' +
          'QUERY_TOO_COMPLEX, what would have taken too many requests.',
        resolve: (slice) => [...slice.unavailableSources],
      }),
    }),
  },
  { name: 'EventEdge', description: 'An event and its place in the list.' },
);

function eventListArgs() {
  return {
    ...builder.args((t) => ({
      filter: t.field({ type: EventFilterInput, description: 'Which events; all when left out.' }),
      orderBy: t.field({
        type: EventOrderEnum,
        required: true,
        defaultValue: 'ORIGIN_TIME_DESC',
        description: 'Which come first.',
      }),
    })),
    ...forwardArgs(),
  };
}

interface EventListInput {
  readonly filter?: EventFilter | null | undefined;
  readonly orderBy: 'ORIGIN_TIME_DESC' | 'ORIGIN_TIME_ASC';
  readonly first?: number | null | undefined;
}

const eventListCost = cost<EventListInput>({
  requests: (args, parents) => requestsOf(args) * parents,
  items: ({ first }) => first ?? defaultFirst,
});

/**
 * A page that both lists hold in their order takes a few requests. What the gateway has to sort out by itself (a filter
 * that upstream does not know, the oldest first) takes at worst as many as one page may.
 */
function requestsOf({ filter, orderBy, first }: EventListInput): number {
  const { from: _, boundingBox: __, within: ___, ...others } = filter ?? {};
  const isInOrder = orderBy === 'ORIGIN_TIME_DESC' && Object.values(others).every((value) => value == null);
  return isInOrder ? 4 + Math.ceil((first ?? defaultFirst) / 85) : 2 * mostRequests;
}

builder.queryField('events', (t) =>
  t.field({
    type: EventConnection,
    description:
      'Earthquakes of both interfaces, each once, in exact order of origin time whatever order upstream lists in. A walk ' +
      'through the pages neither repeats nor skips one while others are issued. A page may hold fewer than `first` with ' +
      '`hasNextPage` true, where finding more would take too many upstream requests: go on from `endCursor`, or narrow ' +
      '`filter`. Null with the error where none of the interfaces that could answer can.',
    args: eventListArgs(),
    extensions: eventListCost,
    resolve: (_, { first, ...args }, { unify }) =>
      listEvents(unify, { ...args, first: first ?? defaultFirst }),
  }),
);

builder.objectFields(NetworkRef, (t) => ({
  events: t.field({
    type: EventConnection,
    description: 'Earthquakes that the catalogue counts to this network, in exact order of origin time.',
    args: eventListArgs(),
    extensions: eventListCost,
    resolve: ({ networkId }, { first, filter, ...args }, { unify }) => {
      // A filter by another network leaves nothing of this one.
      const isOther = filter?.networkId != null && filter.networkId !== networkId;
      if (isOther) return sliceOf<LocatedEvent>([], { next: false, previous: args.after != null });
      return listEvents(unify, { ...args, filter: { ...filter, networkId }, first: first ?? defaultFirst });
    },
  }),
}));

import { UpstreamUnavailable } from '../../../errors.js';
import { arrivalsOf, catalogueDetail, projectDetail } from '../../../unify/event/detail.js';
import { readEvent } from '../../../unify/event/lookup.js';
import type { Event } from '../../../unify/event/merge.js';
import type { Solution } from '../../../unify/event/solution.js';
import { distanceKm } from '../../../unify/geo/geodesy.js';
import { Network } from '../../../unify/network/network.js';
import { instantOf } from '../../../unify/time/wire-time.js';
import { asId } from '../../../upstream/decode/fields.js';
import { builder } from '../../builder.js';
import { kmShown } from '../../digits.js';
import { shown, shownCount } from '../../errors/malformed.js';
import { cost } from '../../limits/cost.js';
import { loadEach } from '../../load-nodes.js';
import { idOf, nodeKey } from '../../node-id.js';
import { EventRef, NetworkRef } from '../../refs.js';
import { SourceEnum } from '../connection.js';
import { PointInput } from '../geography.js';
import { ArrivalRef, EventQualityRef, EventSolutionsRef, OriginRef } from './parts.js';

builder.node(EventRef, {
  description:
    'An earthquake. The records that both interfaces have of the same earthquake are one Event, and ' +
    '`sources` names the interfaces. Origin time and epicentre always come from one location: the ' +
    "catalogue's where it has one, otherwise the project's latest origin.",
  id: nodeKey((event) => event.key),
  loadManyWithoutCache: (keys, { unify }) => loadEach(keys, (key) => readEvent(unify, { key })),
  fields: (t) => ({
    projectEventId: t.string({
      description:
        'Identifier of the earthquake in the project interface; null for an earthquake that only the ' +
        'catalogue knows.',
      resolve: (event) => event.projectEventId ?? ofProject(event, null),
    }),
    catalogueEventId: t.string({
      description:
        'Identifier of the earthquake in the catalogue interface; null for an earthquake that only the ' +
        'project knows.',
      resolve: (event) => ofCatalogue(event, event.catalogueEventId),
    }),
    originTime: t.field({
      type: 'DateTime',
      nullable: false,
      description:
        'Origin time: the moment at which the rupture began. It comes from the same location as the ' +
        "epicentre: the catalogue's where it has one, otherwise the project's latest origin.",
      resolve: (event) => located(event).originTime,
    }),
    issuedAt: t.field({
      type: 'DateTime',
      description:
        "Time at which the project's latest solution was issued; null for an earthquake that only the " +
        'catalogue knows.',
      resolve: (event) => shown(ofProject(event, event.issuedAt)),
    }),
    latitude: t.float({
      nullable: false,
      description: 'Latitude of the epicentre in degrees north (WGS 84), from -90 to 90.',
      resolve: (event) => located(event).latitude,
    }),
    longitude: t.float({
      nullable: false,
      description: 'Longitude of the epicentre in degrees east (WGS 84), from -180 to 180.',
      resolve: (event) => located(event).longitude,
    }),
    depthKm: t.float({
      description:
        'Depth of the hypocentre in kilometres, from the same location as the epicentre, or from the ' +
        'other interface where that location has none; null when neither has one.',
      resolve: (event) => shown(ofEither(event, event.depthKm)),
    }),
    magnitude: t.float({
      description:
        'Magnitude of the catalogue, otherwise of the project; null when neither has one. Its type is ' +
        'in `magnitudeType`.',
      resolve: (event) => shown(ofEither(event, event.magnitude)),
    }),
    magnitudeType: t.string({
      description:
        "Type of the catalogue's magnitude as the catalogue spells it, such as mb, ML or Mww. Case " +
        'matters, and the set of values is open. Null when the catalogue gives none, and for a ' +
        'magnitude of the project.',
      resolve: (event) => shown(ofCatalogue(event, event.magnitudeType)),
    }),
    place: t.string({
      description:
        'Description of the location by the catalogue, such as a distance and direction from a town; ' +
        'null when the catalogue gives none.',
      resolve: (event) => shown(ofCatalogue(event, event.place)),
    }),
    status: t.string({
      description:
        "Status of the catalogue's record as the catalogue writes it; the set of values is open. Null " +
        'when the catalogue gives none.',
      resolve: (event) => shown(ofCatalogue(event, event.status)),
    }),
    stationCount: t.int({
      description:
        'Number of stations used by the project, 0 or more; null for an earthquake that only the ' +
        'catalogue knows.',
      resolve: (event) => shownCount(ofProject(event, event.stationCount)),
    }),
    pickStations: t.stringList({
      description:
        'Station codes of the picks that the project used; null for an earthquake that only the ' +
        'catalogue knows.',
      resolve: (event) => ofProject(event, event.pickStations),
    }),
    horizontalUncertaintyKm: t.float({
      description:
        "Uncertainty of the catalogue's epicentre in kilometres; null when the catalogue gives none. " +
        "It is part of the catalogue's detail, which costs one request to the service for each " +
        'earthquake.',
      resolve: async (event, _, { unify }) =>
        shown((await catalogueDetail(unify, event))?.horizontal_uncertainty_km ?? null),
    }),
    depthUncertaintyKm: t.float({
      description:
        "Uncertainty of the catalogue's depth in kilometres; null when the catalogue gives none. It is " +
        "part of the catalogue's detail, which costs one request to the service for each earthquake.",
      resolve: async (event, _, { unify }) =>
        shown((await catalogueDetail(unify, event))?.depth_uncertainty_km ?? null),
    }),
    magnitudeUncertainty: t.float({
      description:
        "Uncertainty of the catalogue's magnitude, in units of magnitude; null when the catalogue " +
        "gives none. It is part of the catalogue's detail, which costs one request to the service for " +
        'each earthquake.',
      resolve: async (event, _, { unify }) =>
        shown((await catalogueDetail(unify, event))?.magnitude_uncertainty ?? null),
    }),
    quality: t.field({
      type: EventQualityRef,
      description:
        "Quality of the catalogue's location; null when the catalogue gives none. It is part of the " +
        "catalogue's detail, which costs one request to the service for each earthquake.",
      resolve: async (event, _, { unify }) => (await catalogueDetail(unify, event))?.quality ?? null,
    }),
    arrivals: t.field({
      type: [ArrivalRef],
      nullable: { list: true, items: false },
      description:
        "Arrivals at single stations by the catalogue's location; null when the catalogue gives none. " +
        "They are part of the catalogue's detail, which costs one request to the service for each " +
        'earthquake.',
      resolve: async (event, _, { unify }) =>
        (await arrivalsOf(unify, event))?.map((arrival) => ({ event, arrival })) ?? null,
    }),
    network: t.field({
      type: NetworkRef,
      description: 'Network that the catalogue assigns the earthquake to; null when it assigns none.',
      resolve: (event, _, { unify }) => {
        const networkId = shown(ofCatalogue(event, event.networkId));
        return networkId === null ? null : new Network(unify, asId(networkId));
      },
    }),
    solutions: t.field({
      type: EventSolutionsRef,
      description:
        'Every solution that the project has issued for the earthquake; null for an earthquake that ' +
        'only the catalogue knows. Costs one request to the service for each earthquake.',
      resolve: (event, _, { unify }) => projectDetail(unify, event),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description:
        'Time at which the catalogue created its record of the earthquake; null when it does not say. ' +
        "It is part of the catalogue's detail, which costs one request to the service for each " +
        'earthquake.',
      resolve: async (event, _, { unify }) =>
        shown(instantOf((await catalogueDetail(unify, event))?.created_at ?? null)),
    }),
    distanceKm: t.float({
      nullable: false,
      args: {
        from: t.arg({
          type: PointInput,
          required: true,
          description: 'Place to which the distance is measured.',
        }),
      },
      description:
        'Distance from the epicentre to a place in kilometres, along the geodesic on the WGS 84 ' +
        'ellipsoid; depth is not part of it. Rounded to metres.',
      resolve: (event, { from }) => kmShown(distanceKm(located(event), from)),
    }),
    projectOrigin: t.field({
      type: OriginRef,
      description:
        'Latest location by the project alone, for comparison with the merged values; null when the ' +
        'project has not located the earthquake.',
      resolve: (event) => {
        const record = ofProject(event, event.project);
        const solution = event.projectSolution;
        return record && solution && { solution, origin: record.value.origin };
      },
    }),
    sources: t.field({
      type: [SourceEnum],
      nullable: { list: false, items: false },
      description: 'Interfaces that know the earthquake: one or both.',
      resolve: (event) => [...event.sources],
    }),
    asOf: t.field({
      type: 'DateTime',
      nullable: false,
      description:
        'Time at which the gateway read this from the service; of two records that make up the ' +
        'earthquake, the earlier time.',
      resolve: ({ readAtMs }, _, { unify }) => unify.dateOf(readAtMs),
    }),
  }),
});

const EventLookupInput = builder.inputType('EventLookup', {
  description: 'Name of one earthquake, by exactly one of the fields.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'Global id, taken from `Event.id`.' }),
    projectEventId: t.string({
      description:
        'Identifier of the earthquake in the project interface. Error: NOT_CONFIGURED without that ' +
        'interface.',
    }),
    catalogueEventId: t.string({
      description:
        'Identifier of the earthquake in the catalogue interface. Error: NOT_CONFIGURED without that ' +
        'interface.',
    }),
  }),
});

builder.queryField('event', (t) =>
  t.field({
    type: EventRef,
    description:
      'One earthquake with the values of both interfaces; null when there is no such earthquake. Costs ' +
      'at most four requests to the service. Errors: BAD_USER_INPUT for a wrong id, NOT_CONFIGURED ' +
      'when the interface of the identifier is not configured, FORBIDDEN on a plan without earthquake ' +
      'detection.',
    args: {
      by: t.arg({
        type: EventLookupInput,
        required: true,
        description: 'Identifier of the earthquake, in one of its forms.',
      }),
    },
    extensions: cost({ requests: () => 4 }),
    resolve: (_, { by }, { unify }) => {
      if (by.id != null) return readEvent(unify, { key: idOf('Event', String(by.id), 'by.id') });
      if (by.projectEventId != null) return readEvent(unify, { projectEventId: asId(by.projectEventId) });
      return readEvent(unify, { catalogueEventId: asId(by.catalogueEventId ?? '') });
    },
  }),
);

function located(event: Event): Solution {
  if (event.solution) return event.solution;
  throw (
    event.failures.catalogue ??
    event.failures.project ??
    new UpstreamUnavailable(
      event.project?.value.origin
        ? 'The project interface sent a location of this event that cannot be read'
        : 'No interface has located this event yet',
    )
  );
}

/** A value that only the project has; throws the failure of the project, if its read failed. */
function ofProject<T>(event: Event, value: T): T {
  if (event.failures.project) throw event.failures.project;
  return value;
}

function ofCatalogue<T>(event: Event, value: T): T {
  if (event.failures.catalogue) throw event.failures.catalogue;
  return value;
}

/** A value that both sides can have; if it is null, throws the failure of a side that might have had it. */
function ofEither<T>(event: Event, value: T | null): T | null {
  return value ?? ofCatalogue(event, ofProject(event, null));
}

import { UpstreamUnavailable } from '../../errors.js';
import { arrivalsOf, type Event, readEvent } from '../../unify/event.js';
import { catalogueDetail, projectDetail } from '../../unify/event-detail.js';
import type { Solution } from '../../unify/event-solution.js';
import { distanceKm } from '../../unify/geodesy.js';
import { Network } from '../../unify/network.js';
import { instantOf } from '../../unify/wire-time.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { loadEach } from '../load-nodes.js';
import { shown, shownCount } from '../malformed.js';
import { idOf, nodeKey } from '../node-id.js';
import { EventRef, NetworkRef } from '../refs.js';
import { SourceEnum } from './connection.js';
import { ArrivalRef, EventQualityRef, EventSolutionsRef, OriginRef } from './event-parts.js';
import { PointInput } from './geography.js';

builder.node(EventRef, {
  description:
    'One earthquake. Where both interfaces know it, one Event carries both: `sources` says which. Origin, magnitude and ' +
    "time come from the catalogue's solution where there is one, else from the project's latest origin.",
  id: nodeKey((event) => event.key),
  loadManyWithoutCache: (keys, { unify }) => loadEach(keys, (key) => readEvent(unify, { key })),
  fields: (t) => ({
    projectEventId: t.string({
      description: "The project's identifier; null for an event that only the catalogue knows.",
      resolve: (event) => event.projectEventId ?? ofProject(event, null),
    }),
    catalogueEventId: t.string({
      description: "The catalogue's identifier; null for an event that only the project knows.",
      resolve: (event) => ofCatalogue(event, event.catalogueEventId),
    }),
    originTime: t.field({
      type: 'DateTime',
      nullable: false,
      description:
        "When it began, of the same solution as its place: the catalogue's, else the project's latest origin.",
      resolve: (event) => located(event).originTime,
    }),
    issuedAt: t.field({
      type: 'DateTime',
      description:
        "When the project's latest solution was issued; null for an event that the project does not have.",
      resolve: (event) => shown(ofProject(event, event.issuedAt)),
    }),
    latitude: t.float({
      nullable: false,
      description: 'Of the epicentre, degrees north.',
      resolve: (event) => located(event).latitude,
    }),
    longitude: t.float({
      nullable: false,
      description: 'Of the epicentre, degrees east.',
      resolve: (event) => located(event).longitude,
    }),
    depthKm: t.float({
      description: "Depth in kilometres, of the same solution where it has one, else the other interface's.",
      resolve: (event) => shown(ofEither(event, event.depthKm)),
    }),
    magnitude: t.float({
      description: "The catalogue's magnitude, else the project's.",
      resolve: (event) => shown(ofEither(event, event.magnitude)),
    }),
    magnitudeType: t.string({
      description:
        "Type of the catalogue's magnitude, as it spells it: an open, case-sensitive set (mb, ML, Mww). Null beside a " +
        "magnitude of the project's.",
      resolve: (event) => shown(ofCatalogue(event, event.magnitudeType)),
    }),
    place: t.string({
      description: 'Where it was, in words, by the catalogue.',
      resolve: (event) => shown(ofCatalogue(event, event.place)),
    }),
    status: t.string({
      description: 'Status as the catalogue writes it: an open set.',
      resolve: (event) => shown(ofCatalogue(event, event.status)),
    }),
    stationCount: t.int({
      description: 'Stations used, as the project counts them.',
      resolve: (event) => shownCount(ofProject(event, event.stationCount)),
    }),
    pickStations: t.stringList({
      description: 'Codes of the stations whose picks the project used.',
      resolve: (event) => ofProject(event, event.pickStations),
    }),
    horizontalUncertaintyKm: t.float({
      description:
        "Of the catalogue's epicentre, in kilometres. From its detail: one upstream request for each event.",
      resolve: async (event, _, { unify }) =>
        shown((await catalogueDetail(unify, event))?.horizontal_uncertainty_km ?? null),
    }),
    depthUncertaintyKm: t.float({
      description: "Of the catalogue's depth, in kilometres. From its detail.",
      resolve: async (event, _, { unify }) =>
        shown((await catalogueDetail(unify, event))?.depth_uncertainty_km ?? null),
    }),
    magnitudeUncertainty: t.float({
      description: "Of the catalogue's magnitude. From its detail.",
      resolve: async (event, _, { unify }) =>
        shown((await catalogueDetail(unify, event))?.magnitude_uncertainty ?? null),
    }),
    quality: t.field({
      type: EventQualityRef,
      description: "How well constrained the catalogue's solution is. From its detail.",
      resolve: async (event, _, { unify }) => (await catalogueDetail(unify, event))?.quality ?? null,
    }),
    arrivals: t.field({
      type: [ArrivalRef],
      nullable: { list: true, items: false },
      description: "Per-station arrivals of the catalogue's solution. From its detail.",
      resolve: async (event, _, { unify }) =>
        (await arrivalsOf(unify, event))?.map((arrival) => ({ event, arrival })) ?? null,
    }),
    network: t.field({
      type: NetworkRef,
      description: 'The network that the catalogue counts it to.',
      resolve: (event, _, { unify }) => {
        const networkId = shown(ofCatalogue(event, event.networkId));
        return networkId === null ? null : new Network(unify, networkId);
      },
    }),
    solutions: t.field({
      type: EventSolutionsRef,
      description: 'Every solution the project issued. From its detail: one upstream request for each event.',
      resolve: (event, _, { unify }) => projectDetail(unify, event),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the catalogue made its record of it. From its detail.',
      resolve: async (event, _, { unify }) =>
        shown(instantOf((await catalogueDetail(unify, event))?.created_at ?? null)),
    }),
    distanceKm: t.float({
      nullable: false,
      args: { from: t.arg({ type: PointInput, required: true, description: 'The other end.' }) },
      description: 'From the epicentre to a place, in kilometres along the WGS 84 ellipsoid.',
      resolve: (event, { from }) => distanceKm(located(event), from),
    }),
    projectOrigin: t.field({
      type: OriginRef,
      description: 'The latest project solution by itself; null where the project has not located it.',
      resolve: (event) => {
        const record = ofProject(event, event.project);
        const solution = event.projectSolution;
        return record && solution && { solution, origin: record.value.origin };
      },
    }),
    sources: t.field({
      type: [SourceEnum],
      nullable: { list: false, items: false },
      description: 'Which interfaces know it.',
      resolve: (event) => [...event.sources],
    }),
    asOf: t.field({
      type: 'DateTime',
      nullable: false,
      description: 'When the gateway read this from upstream: the oldest of the records it is made of.',
      resolve: (event) => event.asOf,
    }),
  }),
});

const EventLookupInput = builder.inputType('EventLookup', {
  description: 'Exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'Global id.' }),
    projectEventId: t.string({ description: "The project's identifier." }),
    catalogueEventId: t.string({ description: "The catalogue's identifier." }),
  }),
});

builder.queryField('event', (t) =>
  t.field({
    type: EventRef,
    description: 'One earthquake with what both interfaces know of it; null when there is none.',
    args: { by: t.arg({ type: EventLookupInput, required: true, description: 'Which event.' }) },
    extensions: cost({ requests: () => 4 }),
    resolve: (_, { by }, { unify }) => {
      if (by.id != null) return readEvent(unify, { key: idOf('Event', String(by.id), 'by.id') });
      if (by.projectEventId != null) return readEvent(unify, { projectEventId: by.projectEventId });
      return readEvent(unify, { catalogueEventId: by.catalogueEventId ?? '' });
    },
  }),
);

function located(event: Event): Solution {
  if (event.solution) return event.solution;
  throw (
    event.failures.catalogue ??
    event.failures.project ??
    new UpstreamUnavailable('No interface has located this event')
  );
}

/** A value that the project alone has: where it was asked and could not answer, its failure. */
function ofProject<T>(event: Event, value: T): T {
  if (event.failures.project) throw event.failures.project;
  return value;
}

function ofCatalogue<T>(event: Event, value: T): T {
  if (event.failures.catalogue) throw event.failures.catalogue;
  return value;
}

/** A value that either can have: only where there is none, the failure of who might have had one. */
function ofEither<T>(event: Event, value: T | null): T | null {
  return value ?? ofCatalogue(event, ofProject(event, null));
}

import { type GraphQLSchema, specifiedDirectives } from 'graphql';
import { builder } from './builder.js';
import { withEntities } from './federation.js';
import { withDeferredFields } from './incremental/deferred-fields.js';
import { deferDirective, streamDirective } from './incremental/directives.js';
import { withGlobalIds } from './node-id.js';
import { withNodesApart } from './nodes-apart.js';
import { withResolverGroups } from './resolver-groups.js';
import { withSlicedLists } from './sliced-lists.js';
import './types/changes.js';
import './types/connection.js';
import './types/event/list.js';
import './types/event/event.js';
import './types/gateway.js';
import './types/geography.js';
import './types/network.js';
import './types/project.js';
import './types/sensor/list.js';
import './types/sensor/lookup.js';
import './types/sensor/sensor.js';
import './types/health/report.js';
import './types/health/history.js';
import './types/event/recording.js';
import './types/waveform.js';
import './types/trigger/list.js';

/** The graph. Importing the file of a type adds the type and the root fields that return it. */
export const schema = executable(built());

/** The graph as a subgraph of a federation. Made when asked for: few gateways are one. */
export function subgraphSchema(): GraphQLSchema {
  return executable(withEntities(built()));
}

function executable(graph: GraphQLSchema): GraphQLSchema {
  return withDeferredFields(withResolverGroups(withSlicedLists(graph)));
}

function built(): GraphQLSchema {
  const directives = [...specifiedDirectives, deferDirective, streamDirective];
  const graph = withNodesApart(withGlobalIds(builder.toSchema({ directives })));
  // Pothos has no option for the description of a schema.
  graph.description =
    'Sensors, state of health, earthquakes, triggers, networks and waveforms of a seismic-sensor service. The service has ' +
    'two REST interfaces, and this graph unites them: the project interface shows one project, the catalogue interface an ' +
    'organisation. A sensor or an earthquake that both know is one object, and its `sources` names them.\n\n' +
    'Times are RFC 3339 in UTC, positions are degrees of WGS 84, and a name or a description has every other known unit. A ' +
    'field is null when the service does not give the value, and has an error at its path when the value could not be read. ' +
    'Every error has its code in `extensions.code`: the descriptions name those that a field is likely to give. ' +
    'The service limits requests by a rate limit for each key; the descriptions say which fields cost a request of their ' +
    'own, and an answer comes from a cache where that is fresh enough.';
  return graph;
}

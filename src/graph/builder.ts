import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ValidationPlugin from '@pothos/plugin-validation';
import { BadUserInput } from '../errors.js';
import { limits } from '../limits.js';
import type { GraphContext } from './context.js';
import { cost } from './limits/cost.js';
import { decodeNodeId, encodeNodeId } from './node-id.js';
import { dateTimeScalar, type GraphScalars, jsonScalar, samplesScalar } from './scalars.js';

/** Upstream requests for one node: its record and, for a sensor or an event, its record on the other side. */
export const mostForNode = 2;

/** The one Pothos builder. Fields are nullable by default, since upstream may omit values. */
export const builder = new SchemaBuilder<{
  Context: GraphContext;
  Scalars: GraphScalars;
  DefaultFieldNullability: true;
  DefaultNodeNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
}>({
  plugins: [ValidationPlugin, RelayPlugin],
  relay: {
    idFieldOptions: {
      description:
        'Global id of this object. It is opaque, stays the same however the object was reached, and is ' +
        'what `node` takes.',
    },
    cursorType: 'String',
    encodeGlobalID: (typename, id) => encodeNodeId(typename, String(id)),
    decodeGlobalID: (globalId) => decodeNodeId(globalId),
    nodesOnConnection: {
      description: 'Records of this page in the order of the list, without their cursors.',
    },
    nodeTypeOptions: { description: 'An object with a global id, by which `Query.node` reads it again.' },
    nodeQueryOptions: {
      description:
        'Object of any type by its global id; null when it does not exist or no longer exists. ' +
        'Estimated at two requests to the service. Error: BAD_USER_INPUT for a text that is no global ' +
        'id of this graph.',
      args: { id: { description: 'Global id, taken from the field `id` of an object of this graph.' } },
      extensions: cost({ requests: () => mostForNode }),
    },
    nodesQueryOptions: {
      nullable: { list: false, items: true },
      description:
        'Objects of any type by their global ids, in the order of the ids; null in the place of each ' +
        'one that does not exist. Estimated at two requests to the service for each id. Errors: ' +
        'BAD_USER_INPUT in the place of a text that is no global id of this graph, or for more than ' +
        `${limits.nodeIds} ids; QUERY_TOO_COMPLEX for fewer where the estimate is over the limit.`,
      args: {
        ids: {
          description: `Global ids, at most ${limits.nodeIds}, taken from the field \`id\` of objects of this graph.`,
        },
      },
      // Beyond the limit nothing is read: the resolver names it, which the estimate could not.
      extensions: cost<{ ids: readonly unknown[] }>({
        requests: ({ ids }) => (ids.length > limits.nodeIds ? 0 : ids.length * mostForNode),
        items: ({ ids }) => (ids.length > limits.nodeIds ? 0 : ids.length),
      }),
    },
    pageInfoTypeOptions: {
      description:
        'Position of a page within its list, with the cursors that lead to the neighbouring pages.',
    },
    hasNextPageFieldOptions: {
      nullable: false,
      description: 'True when the list continues after this page: pass `endCursor` as `after` to read on.',
    },
    hasPreviousPageFieldOptions: {
      nullable: false,
      description: 'True when the list has records before this page.',
    },
    startCursorFieldOptions: {
      nullable: true,
      description:
        'Cursor of the first record of this page, for the argument `before`; null on an empty page.',
    },
    endCursorFieldOptions: {
      nullable: true,
      description:
        'Cursor from which the list continues after this page, for the argument `after`. It is the ' +
        'cursor of the last record, or of the place that a search has reached; null when there is none.',
    },
    pageInfoFieldOptions: {
      nullable: false,
      description: 'Position of this page within the list, with its first and last cursor.',
    },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'Records of this page in the order of the list, each with its cursor.',
    },
    nodeFieldOptions: { nullable: false, description: 'Record at this place of the list.' },
    cursorFieldOptions: {
      description:
        'Opaque position of this record in the list: pass it as `after` or, where a list takes it, as ' +
        '`before`. It stays valid across restarts and at every instance of the gateway.',
    },
  },
  validation: {
    validationError: ({ issues }) => {
      const argument = issues[0]?.path
        ?.map((step) => String(typeof step === 'object' ? step.key : step))
        .join('.');
      const message = issues[0]?.message ?? 'wrong value';
      return new BadUserInput(`\`${argument ?? 'argument'}\`: ${message}`, { argument });
    },
  },
});

builder.scalarType('DateTime', dateTimeScalar);
builder.scalarType('JSON', jsonScalar);
builder.scalarType('Samples', samplesScalar);
builder.queryType({
  description: 'Read access to sensors, earthquakes, triggers, networks and the state of the gateway.',
});

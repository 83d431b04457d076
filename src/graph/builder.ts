import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ValidationPlugin from '@pothos/plugin-validation';
import { BadUserInput } from '../errors.js';
import type { GraphContext } from './context.js';
import { cost } from './cost.js';
import { decodeNodeId, encodeNodeId } from './node-id.js';
import { dateTimeScalar, type GraphScalars, jsonScalar, samplesScalar } from './scalars.js';

// The record and, for a sensor or an event, its other half.
const mostForNode = 2;

/** The one Pothos builder. Fields are nullable unless they say otherwise: whatever upstream may leave out is. */
export const builder = new SchemaBuilder<{
  Context: GraphContext;
  Scalars: GraphScalars;
  DefaultFieldNullability: true;
  DefaultNodeNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
}>({
  plugins: [ValidationPlugin, RelayPlugin],
  relay: {
    idFieldOptions: { description: 'Global id, good for `node`.' },
    cursorType: 'String',
    encodeGlobalID: (typename, id) => encodeNodeId(typename, String(id)),
    decodeGlobalID: decodeNodeId,
    nodesOnConnection: {
      description: 'The records of this page.',
    },
    nodeTypeOptions: { description: 'Whatever can be read again by its global id.' },
    nodeQueryOptions: {
      description: 'Any node by its global id; null when it is not there (any more).',
      args: { id: { description: 'Global id, as `id` of a node gave it.' } },
      extensions: cost({ requests: () => mostForNode }),
    },
    nodesQueryOptions: {
      nullable: { list: false, items: true },
      description:
        'Several nodes by their global ids, in the order asked; null in the place of each that is not there.',
      args: { ids: { description: 'Global ids, as `id` of a node gave them.' } },
      extensions: cost<{ ids: readonly unknown[] }>({
        requests: ({ ids }) => ids.length * mostForNode,
        items: ({ ids }) => ids.length,
      }),
    },
    pageInfoTypeOptions: { description: 'Where a page stands in its list.' },
    hasNextPageFieldOptions: { nullable: false, description: 'Whether the list goes on after this page.' },
    hasPreviousPageFieldOptions: { nullable: false, description: 'Whether there is more before this page.' },
    startCursorFieldOptions: {
      nullable: true,
      description: 'Cursor of the first edge; null on an empty page.',
    },
    endCursorFieldOptions: { nullable: true, description: 'Cursor of the last edge: pass it as `after`.' },
    pageInfoFieldOptions: { nullable: false, description: 'Where this page stands in the list.' },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The records with their cursors.',
    },
    nodeFieldOptions: { nullable: false, description: 'The record.' },
    cursorFieldOptions: { description: 'Opaque position of this record: pass it as `after` or `before`.' },
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
builder.queryType({ description: 'Everything that can be read.' });

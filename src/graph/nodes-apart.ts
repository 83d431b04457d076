import type { GraphQLSchema } from 'graphql';
import { BadUserInput } from '../errors.js';
import { limits } from '../limits.js';
import type { GraphContext } from './context.js';
import { decodeNodeId } from './node-id.js';

/** An id that is none of this graph costs its own place in `Query.nodes` alone: Pothos decodes all of them or none. */
export function withNodesApart(schema: GraphQLSchema): GraphQLSchema {
  const field = schema.getQueryType()?.getFields().nodes;
  const resolve = field?.resolve;
  if (!field || !resolve) throw new Error('The graph has no field `nodes`');
  field.resolve = async (root, { ids }: { ids: readonly string[] }, context: GraphContext, info) => {
    if (ids.length > limits.nodeIds) {
      throw new BadUserInput(
        `\`ids\` has ${ids.length} ids; at most ${limits.nodeIds} can be asked for at once`,
        {
          argument: 'ids',
        },
      );
    }
    const faults = ids.map(faultOf);
    const known = ids.filter((_, index) => faults[index] === null);
    const found = (await resolve(root, { ids: known }, context, info)) as readonly unknown[];
    let next = 0;
    // The executor reports an Error in the list at its path.
    return faults.map((fault) => fault ?? found[next++]);
  };
  return schema;
}

function faultOf(id: string): BadUserInput | null {
  try {
    decodeNodeId(id, 'ids');
    return null;
  } catch (error) {
    if (error instanceof BadUserInput) return error;
    throw error;
  }
}

import { defaultFieldResolver, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import type { GraphContext } from '../context.js';
import { wrapResolvers } from '../wrap-resolvers.js';
import { type InitialCounts, initialCountOf } from './count.js';
import { deferDirective } from './directives.js';
import { type Enclosing, enclosingOf } from './documents.js';

/** Runs the fields of deferred parts in the context that the operation has for them, if it has one. */
export function withDeferredFields(schema: GraphQLSchema): GraphQLSchema {
  return wrapResolvers<GraphContext>(schema, (resolve) => {
    if (resolve === defaultFieldResolver) return null;
    return (parent, args, context, info) => {
      const { deferred } = context;
      if (!deferred || !isDeferred(info, deferred.initialCounts)) return resolve(parent, args, context, info);
      return resolve(inContext(parent, deferred.context), args, deferred.context, info);
    };
  });
}

/** An object that reads more on demand, by the context in which it was made. */
interface OfContext {
  within(context: GraphContext['unify']): unknown;
}

function inContext(parent: unknown, { unify }: GraphContext): unknown {
  const isOfContext = typeof parent === 'object' && parent !== null && 'within' in parent;
  return isOfContext ? (parent as OfContext).within(unify) : parent;
}

function isDeferred(
  { fieldNodes, path, variableValues }: GraphQLResolveInfo,
  counts: InitialCounts,
): boolean {
  const [node] = fieldNodes;
  for (let at: Enclosing | null = node ? enclosingOf(node) : null; at; at = at.outer) {
    const { directive, fieldsAbove } = at;
    const initialCount = initialCountOf(directive, variableValues, counts);
    if (initialCount === null) continue;
    const isDefer = directive.name.value === deferDirective.name;
    if (isDefer || indexBelow(path, fieldsAbove) >= initialCount) return true;
  }
  return false;
}

/** The index in the list that is the `fieldsAbove`th field above the end of the path. */
function indexBelow(path: GraphQLResolveInfo['path'], fieldsAbove: number): number {
  let fields = -1;
  let index = -1;
  for (let at: typeof path | undefined = path; at; at = at.prev) {
    if (typeof at.key === 'number') index = at.key;
    else if (++fields === fieldsAbove) break;
  }
  return index;
}

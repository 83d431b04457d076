import {
  defaultFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getDirectiveValues,
  isObjectType,
} from 'graphql';
import type { GraphContext } from '../context.js';
import { deferDirective, streamDirective } from './directives.js';
import { type Enclosing, enclosingOf } from './documents.js';

/** Runs the fields of deferred parts in the context that the operation has for them, if it has one. */
export function withDeferredFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (!resolve || resolve === defaultFieldResolver) continue;
      field.resolve = (parent, args, context: GraphContext, info) => {
        const { deferred } = context;
        if (!deferred || !isDeferred(info)) return resolve(parent, args, context, info);
        return resolve(inContext(parent, deferred), args, deferred, info);
      };
    }
  }
  return schema;
}

/** An object that reads more on demand, by the context in which it was made. */
interface OfContext {
  within(context: GraphContext['unify']): unknown;
}

function inContext(parent: unknown, { unify }: GraphContext): unknown {
  const isOfContext = typeof parent === 'object' && parent !== null && 'within' in parent;
  return isOfContext ? (parent as OfContext).within(unify) : parent;
}

function isDeferred({ fieldNodes, path, variableValues }: GraphQLResolveInfo): boolean {
  const [node] = fieldNodes;
  for (let at: Enclosing | null = node ? enclosingOf(node) : null; at; at = at.outer) {
    const { directive, fieldsAbove } = at;
    const isDefer = directive.name.value === deferDirective.name;
    const definition = isDefer ? deferDirective : streamDirective;
    const values = getDirectiveValues(definition, { directives: [directive] }, variableValues);
    if (values?.if !== true) continue;
    if (isDefer || indexBelow(path, fieldsAbove) >= Number(values.initialCount)) return true;
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

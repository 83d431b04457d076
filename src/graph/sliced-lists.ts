import {
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { GraphContext } from './context.js';
import { wrapResolvers } from './wrap-resolvers.js';

/**
 * Completes lists of objects in event-loop slices: graphql-js completes a list of any length at once, and would block
 * all other clients while it completes thousands of records. In a long list each item is a promise that resolves in its
 * slice.
 */
export function withSlicedLists(schema: GraphQLSchema): GraphQLSchema {
  const valuesOf = valueCounter();
  return wrapResolvers<GraphContext>(schema, (resolve, field) => {
    if (!isListOfObjects(field.type)) return null;
    return (parent, args, context, info) => {
      const sliced = (list: unknown) =>
        Array.isArray(list) ? inSlices(list, valuesOf(info), context.unify) : list;
      const list: unknown = resolve(parent, args, context, info);
      return list instanceof Promise ? list.then(sliced) : sliced(list);
    };
  });
}

// Share of a slice that one list may use, so that each slice has room for other operations.
const partOfSlice = 1 / 2;

function inSlices(
  list: readonly unknown[],
  valuesPerItem: number,
  { slices, scope }: GraphContext['unify'],
): readonly unknown[] | Promise<readonly unknown[]> {
  // A rejected item is reported at its path in its slice; until then it must not count as an unhandled rejection.
  for (const item of list) if (item instanceof Promise) item.catch(() => {});
  // graphql-js knows no abort signal: the work for a client that has gone ends with its next slice.
  const inTime = <T>(value: T): T => {
    scope.signal.throwIfAborted();
    return value;
  };
  const perSlice = Math.max(1, Math.floor((slices.perSlice * partOfSlice) / valuesPerItem));
  if (list.length <= perSlice) {
    const slice = slices.take(list.length * valuesPerItem, scope.operationKey);
    return slice ? slice.then(() => inTime(list)) : list;
  }
  const due: unknown[] = [];
  for (let at = 0; at < list.length; at += perSlice) {
    const items = list.slice(at, at + perSlice);
    const slice = slices.take(items.length * valuesPerItem, scope.operationKey);
    for (const item of items) due.push(slice ? slice.then(() => inTime(item)) : item);
  }
  return due;
}

function isListOfObjects(type: GraphQLOutputType): boolean {
  const list = getNullableType(type);
  return isListType(list) && isCompositeType(getNullableType(list.ofType));
}

/** Number of fields selected per item. Nested lists count as one item: they are sliced separately. */
function valueCounter(): (info: GraphQLResolveInfo) => number {
  const counted = new WeakMap<object, number>();
  return ({ fieldNodes, fragments }) => {
    const count = (selectionSet: SelectionSetNode | undefined): number => {
      let values = 1;
      for (const node of selectionSet?.selections ?? []) {
        values += count(
          node.kind === Kind.FRAGMENT_SPREAD ? fragments[node.name.value]?.selectionSet : node.selectionSet,
        );
      }
      return values;
    };
    return fieldNodes.reduce((values, node) => {
      const known = counted.get(node) ?? count(node.selectionSet);
      counted.set(node, known);
      return values + known;
    }, 0);
  };
}

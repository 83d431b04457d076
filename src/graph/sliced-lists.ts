import {
  defaultFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { GraphContext } from './context.js';

/**
 * The schema with its lists of objects answered in slices: graphql completes a list of any length in one go, and while it
 * completes thousands of records nothing else is answered. Of a long list each item is a promise of the turn of the event
 * loop that it is due in.
 */
export function withSlicedLists(schema: GraphQLSchema): GraphQLSchema {
  const valuesOf = valueCounter();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isListOfObjects(field.type)) continue;
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (parent, args, context: GraphContext, info) => {
        const sliced = (list: unknown) =>
          Array.isArray(list) ? inSlices(list, valuesOf(info), context.unify) : list;
        const list: unknown = resolve(parent, args, context, info);
        return list instanceof Promise ? list.then(sliced) : sliced(list);
      };
    }
  }
  return schema;
}

// Of one list in one slice: a slice that is as long as a turn would leave no room for another's.
const partOfTurn = 1 / 2;

function inSlices(
  list: readonly unknown[],
  valuesPerItem: number,
  { slices, scope }: GraphContext['unify'],
): readonly unknown[] | Promise<readonly unknown[]> {
  // An item that fails while it waits has its error in its own place then: until then nobody has asked for it.
  for (const item of list) if (item instanceof Promise) item.catch(() => {});
  const perSlice = Math.max(1, Math.floor((slices.perTurn * partOfTurn) / valuesPerItem));
  if (list.length <= perSlice) {
    const turn = slices.take(list.length * valuesPerItem, scope.operationKey);
    return turn ? turn.then(() => list) : list;
  }
  const due: unknown[] = [];
  for (let at = 0; at < list.length; at += perSlice) {
    const slice = list.slice(at, at + perSlice);
    const turn = slices.take(slice.length * valuesPerItem, scope.operationKey);
    for (const item of slice) due.push(turn ? turn.then(() => item) : item);
  }
  return due;
}

function isListOfObjects(type: GraphQLOutputType): boolean {
  const list = getNullableType(type);
  return isListType(list) && isCompositeType(getNullableType(list.ofType));
}

/** How many fields are selected of one item, lists in it counted once: they are sliced by themselves. */
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

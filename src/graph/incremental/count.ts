import {
  type FieldNode,
  type FragmentSpreadNode,
  getDirectiveValues,
  type InlineFragmentNode,
} from 'graphql';
import { BadUserInput } from '../../errors.js';
import { deferDirective, streamDirective } from './directives.js';

type Variables = Readonly<Record<string, unknown>>;

/** Number of parts that a fragment becomes for each of its parents. */
export function partsOfFragment(node: InlineFragmentNode | FragmentSpreadNode, variables: Variables): number {
  return getDirectiveValues(deferDirective, node, variables)?.if === true ? 1 : 0;
}

/**
 * Most parts that a list of `items` becomes for each of its parents. The first items count too: where the list is that
 * of a connection, its parents are counted once for each item already.
 * @throws BadUserInput for an `initialCount` below 0
 */
export function partsOfList(node: FieldNode, variables: Variables, items: number): number {
  const values = getDirectiveValues(streamDirective, node, variables);
  if (!values) return 0;
  const initialCount = Number(values.initialCount);
  if (initialCount < 0)
    throw new BadUserInput(`\`initialCount\` is ${initialCount}; it is 0 or more`, {
      argument: 'initialCount',
    });
  return values.if === true ? items : 0;
}

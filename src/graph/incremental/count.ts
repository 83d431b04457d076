import { type DirectiveNode, getDirectiveValues, type SelectionNode } from 'graphql';
import { BadUserInput } from '../../errors.js';
import { deferDirective, makesParts, streamDirective } from './directives.js';

/**
 * Number of first items that come with a streamed list, 0 of a deferred fragment; null where the directive has no effect.
 * By the directives of one operation: the fields of every item of a list ask for the same few.
 */
export type InitialCounts = Map<DirectiveNode, number | null>;

type Variables = Readonly<Record<string, unknown>>;

/** @throws BadUserInput for an `initialCount` below 0 */
export function initialCountOf(
  directive: DirectiveNode,
  variables: Variables,
  known: InitialCounts,
): number | null {
  let count = known.get(directive);
  if (count === undefined) {
    count = evaluated(directive, variables);
    known.set(directive, count);
  }
  return count;
}

function evaluated(directive: DirectiveNode, variables: Variables): number | null {
  const definition = directive.name.value === deferDirective.name ? deferDirective : streamDirective;
  const values = getDirectiveValues(definition, { directives: [directive] }, variables);
  const initialCount = Number(values?.initialCount ?? 0);
  if (initialCount < 0)
    throw new BadUserInput(`\`initialCount\` is ${initialCount}; it is 0 or more`, {
      argument: 'initialCount',
    });
  return values?.if === true ? initialCount : null;
}

/**
 * Most parts that a fragment (which is one item) or a list of `items` becomes for each of its parents. The first items
 * count too: where the list is that of a connection, its parents are counted once for each item already.
 * @throws BadUserInput for an `initialCount` below 0
 */
export function partsOf(
  { directives }: SelectionNode,
  variables: Variables,
  known: InitialCounts,
  items = 1,
): number {
  const directive = directives?.find(makesParts);
  return directive && initialCountOf(directive, variables, known) !== null ? items : 0;
}

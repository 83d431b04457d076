import {
  BREAK,
  DirectiveLocation,
  type DirectiveNode,
  type DocumentNode,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLString,
  visit,
} from 'graphql';
import { limits } from '../../limits.js';

const label = {
  type: GraphQLString,
  description:
    'Name that the parts carry as `label`: a text of the document itself, and no other part of the document has it. The ' +
    'default is none.',
};

const condition = (effect: string) => ({
  type: new GraphQLNonNull(GraphQLBoolean),
  description: `${effect}; false has the effect of no directive.`,
  defaultValue: true,
});

const ignored =
  'It has no effect for a client that takes no parts (over HTTP, one whose `Accept` names neither `multipart/mixed` nor ' +
  '`text/event-stream`), in a subscription, and in an answer that would have more than ' +
  `${limits.answerParts} parts: all of it is then in one.`;

/** Arguments and spelling are those of the incremental delivery that `@graphql-tools/executor` implements. */
export const deferDirective = new GraphQLDirective({
  name: 'defer',
  description:
    'The fragment may be answered after the rest, as a part of its own. The gateway lets it wait longer for the rate ' +
    `limit of the service, so that what is cached is answered at once. ${ignored}`,
  locations: [DirectiveLocation.FRAGMENT_SPREAD, DirectiveLocation.INLINE_FRAGMENT],
  args: { if: condition('True: the fragment is deferred'), label },
});

export const streamDirective = new GraphQLDirective({
  name: 'stream',
  description:
    'The items of the list after the first `initialCount` may be answered after the rest, as parts of their own, and wait ' +
    `for the rate limit of the service as deferred fragments do. ${ignored}`,
  locations: [DirectiveLocation.FIELD],
  args: {
    if: condition('True: the list is streamed'),
    label,
    initialCount: {
      type: new GraphQLNonNull(GraphQLInt),
      description:
        'Number of items that come with the list itself, 0 or more; the default is 0. Error: BAD_USER_INPUT below 0.',
      defaultValue: 0,
    },
  },
});

/** True for one of the two. */
export function makesParts({ name }: DirectiveNode): boolean {
  return name.value === deferDirective.name || name.value === streamDirective.name;
}

const known = new WeakMap<DocumentNode, boolean>();

/** True where the document has one of the two directives, whatever their `if`. */
export function hasParts(document: DocumentNode): boolean {
  const isKnown = known.get(document);
  if (isKnown !== undefined) return isKnown;
  let found = false;
  visit(document, {
    Directive(node) {
      if (!makesParts(node)) return undefined;
      found = true;
      return BREAK;
    },
  });
  known.set(document, found);
  return found;
}

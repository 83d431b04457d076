import { z } from 'zod';
import type { Source } from '../../errors.js';
import type { UnavailableSource } from '../../unify/paging.js';
import { builder } from '../builder.js';

/** What every list has in common: `first` with `after`, `last` with `before`, and who could not answer. */

export const defaultFirst = 50;
const mostFirst = 500;

/**
 * `first` and `after` of a list that is walked forwards.
 * @param most how many a page may hold; more or less than 1 is BAD_USER_INPUT
 */
export function forwardArgs(most = mostFirst, byDefault = defaultFirst) {
  return {
    first: builder.args((t) => ({
      first: t.int({
        validate: pageSize(most),
        description: `How many, 1 to ${most}; ${byDefault} when left out.`,
      }),
    })).first,
    after: builder.args((t) => ({
      after: t.string({ description: '`endCursor` of the page before, or the cursor of any edge.' }),
    })).after,
  };
}

/** Also `last` and `before`, for a list that can be walked backwards. */
export function bothWaysArgs(most = mostFirst, byDefault = defaultFirst) {
  return {
    ...forwardArgs(most, byDefault),
    ...builder.args((t) => ({
      last: t.int({
        validate: pageSize(most),
        description: `How many from the end, 1 to ${most}; not together with \`first\`.`,
      }),
      before: t.string({ description: '`startCursor` of the page after, or the cursor of any edge.' }),
    })),
  };
}

function pageSize(most: number) {
  const message = `must be a whole number from 1 to ${most}`;
  return z.int().min(1, message).max(most, message).nullish();
}

export const SourceEnum = builder.enumType('Source', {
  description: 'One of the two REST interfaces behind the graph.',
  values: {
    PROJECT: { value: 'PROJECT', description: 'The key-scoped, read-only project interface.' },
    CATALOGUE: { value: 'CATALOGUE', description: 'The catalogue interface.' },
  } as const satisfies Record<Source, object>,
});

export const UnavailableSourceRef = builder.objectRef<UnavailableSource>('UnavailableSource').implement({
  description: 'An interface that could not answer, so that the list may lack what only it knows.',
  fields: (t) => ({
    source: t.expose('source', { type: SourceEnum, nullable: false, description: 'The interface.' }),
    code: t.exposeString('code', { nullable: false, description: 'Why, as a code of `extensions.code`.' }),
    message: t.exposeString('message', { nullable: false, description: 'Why, in words.' }),
    retryAfterS: t.exposeFloat('retryAfterS', {
      description:
        'Seconds after which asking again can help; null where waiting does not help or nobody knows.',
    }),
  }),
});

import { z } from 'zod';
import type { Source } from '../../errors.js';
import { limits } from '../../limits.js';
import { defaultFirst, type UnavailableSource } from '../../unify/paging.js';
import { builder } from '../builder.js';

/** Parts of every list: `first` with `after`, `last` with `before`, and the failures of interfaces. */

/**
 * `first` and `after`, for forward paging.
 * @param most largest page; a `first` above it or below 1 is BAD_USER_INPUT
 */
export function forwardArgs(most: number = limits.pageRecords, byDefault = defaultFirst) {
  return {
    first: builder.args((t) => ({
      first: t.int({
        validate: pageSize(most),
        description:
          `Number of records on the page, from 1 to ${most}; the default is ${byDefault}. Error: ` +
          'BAD_USER_INPUT outside that range.',
      }),
    })).first,
    after: builder.args((t) => ({
      after: t.string({
        description:
          'Cursor after which the page begins: `endCursor` of the previous page, or the cursor of any ' +
          'edge. The default is the beginning of the list. Error: CURSOR_INVALID for a text that is no ' +
          'cursor of this list.',
      }),
    })).after,
  };
}

/** Also `last` and `before`, for paging in both directions. */
export function bothWaysArgs(most: number = limits.pageRecords, byDefault = defaultFirst) {
  return {
    ...forwardArgs(most, byDefault),
    ...builder.args((t) => ({
      last: t.int({
        validate: pageSize(most),
        description:
          'Number of records from the end of the list, or from before the cursor `before`, from 1 to ' +
          `${most}. Error: BAD_USER_INPUT outside that range or together with \`first\`.`,
      }),
      before: t.string({
        description:
          'Cursor before which the page ends: `startCursor` of the following page, or the cursor of ' +
          'any edge. The default is the end of the list. It goes with `last`, and `after` with `first`. ' +
          'Errors: BAD_USER_INPUT where arguments of both directions are given, CURSOR_INVALID for a text ' +
          'that is no cursor of this list.',
      }),
    })),
  };
}

function pageSize(most: number) {
  const message = `must be a whole number from 1 to ${most}`;
  return z.int().min(1, message).max(most, message).nullish();
}

export const SourceEnum = builder.enumType('Source', {
  description: 'One of the two REST interfaces of the seismic-sensor service, which this graph unites.',
  values: {
    PROJECT: {
      value: 'PROJECT',
      description:
        'The project interface: sensors, state of health, earthquakes and triggers of the one project ' +
        'that a key reads.',
    },
    CATALOGUE: {
      value: 'CATALOGUE',
      description:
        'The catalogue interface: sensors, networks, earthquakes and waveforms of an organisation.',
    },
  } as const satisfies Record<Source, object>,
});

export const UnavailableSourceRef = builder.objectRef<UnavailableSource>('UnavailableSource').implement({
  description:
    'An interface that could not answer for this list, or sent records that cannot be read ' +
    '(UPSTREAM_UNAVAILABLE, and the message says how many), with the reason. Records that it alone ' +
    'knows can be missing from the list.',
  fields: (t) => ({
    source: t.expose('source', {
      type: SourceEnum,
      nullable: false,
      description: 'Interface that could not answer.',
    }),
    code: t.exposeString('code', {
      nullable: false,
      description:
        'Reason as an error code, one of those that errors carry in `extensions.code`, such as ' +
        'UPSTREAM_UNAVAILABLE.',
    }),
    message: t.exposeString('message', { nullable: false, description: 'Reason as an English sentence.' }),
    retryAfterS: t.exposeFloat('retryAfterS', {
      description:
        'Seconds after which a repeated request can succeed; null when waiting does not help or the ' +
        'time is not known.',
    }),
  }),
});

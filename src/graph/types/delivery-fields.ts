import type { FieldMap } from '@pothos/core';
import { dayMs } from '../../clock.js';
import { limits } from '../../limits.js';
import type { Change, Delivery } from '../../live/tracking/change.js';
import type { builder } from '../builder.js';
import type { GraphContext } from '../context.js';
import { cost } from '../limits/cost.js';

/** Delivery fields of every change of a feed of records (docs/behaviour.md 9.4). */
export function deliveryFields<C extends Change<unknown>>(t: FieldsOf<Delivery<C>>): FieldMap {
  return {
    cursor: cursorField(t, ` A cursor can be resumed from for at most ${limits.resumeMs / dayMs} days.`),
    observedAt: t.field({
      type: 'DateTime',
      nullable: false,
      description: 'Time at which the gateway observed the change, by its own clock.',
      resolve: ({ change }, _, { unify }) => unify.dateOf(change.observedAtMs),
    }),
    replayed: replayedField(t),
  };
}

/** The cursor of every change of a resumable feed. */
export function cursorField<C extends { cursor(): string }>(
  t: FieldsOf<Delivery<C>>,
  limit = '',
): FieldMap[string] {
  return t.string({
    nullable: false,
    description:
      'Opaque position of this change in the feed. Pass the last one received as `after` to resume ' +
      `behind it: at this instance, at another one, or after a restart.${limit}`,
    resolve: ({ change }) => change.cursor(),
  });
}

export function replayedField<C>(t: FieldsOf<Delivery<C>>): FieldMap[string] {
  return t.boolean({
    nullable: false,
    description:
      'True when the change is delivered late, as a replay from the change log or from the service ' +
      'after a resume; false when it is delivered live.',
    resolve: ({ isReplayed }) => isReplayed,
  });
}

/** Options of the field for the cursor with which a feed continues a list. */
export function changesCursor<S>(field: {
  readonly description: string;
  /** Upstream requests at worst, shared by all lists of an operation; one read of the current records by default. */
  readonly requests?: number;
  readonly resolve: (list: S, context: GraphContext) => Promise<string>;
}) {
  return {
    nullable: true as const,
    description: field.description,
    extensions: cost({ requests: () => field.requests ?? 1 }),
    resolve: (list: S, _: object, context: GraphContext) => {
      context.unify.scope.dependencies?.refuse('a feed was asked for its cursor');
      return field.resolve(list, context);
    },
  };
}

type SchemaTypes = (typeof builder)['$inferSchemaTypes'];
export type FieldsOf<T> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>;

import type { FieldMap } from '@pothos/core';
import type { Change, Delivery } from '../../live/change.js';
import { Instant } from '../../unify/time.js';
import type { builder } from '../builder.js';

/** What every change of a feed that can be resumed tells of its delivery (contract 9.3). */
export function deliveryFields<C extends Change<unknown>>(t: FieldsOf<Delivery<C>>): FieldMap {
  return {
    cursor: t.string({
      nullable: false,
      description:
        'Pass as `after` to resume behind this change: here, at another instance, or after a restart.',
      resolve: ({ change }) => change.cursor(),
    }),
    observedAt: t.field({
      type: 'DateTime',
      nullable: false,
      description: "When the gateway saw it, by the gateway's own clock.",
      resolve: ({ change }) => Instant.fromMs(change.observedAtMs),
    }),
    replayed: t.boolean({
      nullable: false,
      description: 'True when delivered late, from the log or from upstream, rather than live.',
      resolve: ({ isReplayed }) => isReplayed,
    }),
  };
}

type SchemaTypes = (typeof builder)['$inferSchemaTypes'];
type FieldsOf<T> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>;

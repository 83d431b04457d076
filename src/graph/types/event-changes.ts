import type { Delivery } from '../../live/change.js';
import type { EventChange, EventChangeKind } from '../../live/event-subject.js';
import { eventOfProjectRecord } from '../../unify/event.js';
import { builder } from '../builder.js';
import { EventRef } from '../refs.js';
import { deliveryFields } from './delivery-fields.js';
import { BoundingBoxInput, RadiusInput } from './geography.js';

const EventChangeKindEnum = builder.enumType('EventChangeKind', {
  description: 'What happened to an event (key-scoped §2).',
  values: {
    ISSUED: { value: 'ISSUED', description: 'Its first solution.' },
    REISSUED: { value: 'REISSUED', description: 'A new solution for it.' },
  } as const satisfies Record<EventChangeKind, object>,
});

const EventChangeRef = builder.objectRef<Delivery<EventChange>>('EventChange').implement({
  description: 'A solution that was issued for an event, as the gateway observed it.',
  fields: (t) => ({
    kind: t.field({
      type: EventChangeKindEnum,
      nullable: false,
      description: 'Whether it is the first.',
      resolve: ({ change }) => change.kind,
    }),
    event: t.field({
      type: EventRef,
      nullable: false,
      description: 'The event with this solution, and with what the catalogue knows of the earthquake now.',
      resolve: async ({ change: { record } }, _args, { unify }) => {
        if (!record.project) return record.event;
        // What was known when the change was observed is better than no event.
        return eventOfProjectRecord(unify, record.project).catch(() => record.event);
      },
    }),
    ...deliveryFields(t),
  }),
});

const EventChangeFilterInput = builder.inputType('EventChangeFilter', {
  description: 'Which events, by what was known of them when they were issued. All that is given must hold.',
  fields: (t) => ({
    minMagnitude: t.float({ description: 'Magnitude at least.' }),
    within: t.field({ type: RadiusInput, description: 'Epicentre within this distance of a place.' }),
    boundingBox: t.field({ type: BoundingBoxInput, description: 'Epicentre in this box.' }),
  }),
});

builder.subscriptionField('eventChanges', (t) =>
  t.field({
    type: EventChangeRef,
    nullable: false,
    description:
      'Events issued or re-issued from now on, or after the cursor. From the project; with the catalogue alone from there, ' +
      'once a minute. Errors: CURSOR_INVALID, CURSOR_EXPIRED (older than 7 days), FORBIDDEN for a plan without event ' +
      'detection, and FELL_BEHIND for a reader who is too slow.',
    args: {
      filter: t.arg({ type: EventChangeFilterInput, description: 'Which events; all when left out.' }),
      after: t.arg.string({ description: 'Resume behind this cursor; from now on when left out.' }),
    },
    subscribe: (_, { filter, after }, { feeds }) =>
      feeds.eventChanges({ filter: filter ?? null, after: after ?? null }),
    resolve: (delivery) => delivery,
  }),
);

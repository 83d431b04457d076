import { dayMs } from '../../../clock.js';
import { limits } from '../../../limits.js';
import type { EventChange, EventChangeKind } from '../../../live/feeds/event/subject.js';
import type { Delivery } from '../../../live/tracking/change.js';
import { eventOfProjectRecord } from '../../../unify/event/lookup.js';
import { builder } from '../../builder.js';
import { EventRef } from '../../refs.js';
import { deliveryFields } from '../delivery-fields.js';
import { BoundingBoxInput, RadiusInput } from '../geography.js';

const EventChangeKindEnum = builder.enumType('EventChangeKind', {
  description: 'Kind of a change of an earthquake: the first solution, or a later one.',
  values: {
    ISSUED: { value: 'ISSUED', description: 'The first solution of the earthquake was issued.' },
    REISSUED: {
      value: 'REISSUED',
      description: 'A further solution was issued for an earthquake that had one already.',
    },
  } as const satisfies Record<EventChangeKind, object>,
});

const EventChangeRef = builder.objectRef<Delivery<EventChange>>('EventChange').implement({
  description: 'A solution that was issued for an earthquake, as a feed observed it.',
  fields: (t) => ({
    kind: t.field({
      type: EventChangeKindEnum,
      nullable: false,
      description: 'Kind of change: the first solution of the earthquake, or a later one.',
      resolve: ({ change }) => change.kind,
    }),
    event: t.field({
      type: EventRef,
      nullable: false,
      description:
        'Earthquake with this solution of the project, together with the present record of the ' +
        'catalogue; of the catalogue alone where the project does not have it.',
      resolve: async ({ change: { record } }, _args, { unify }) => {
        if (!record.project) return record.event;
        // When the read fails, the event as it was observed is better than none.
        return eventOfProjectRecord(unify, record.project).catch(() => record.event);
      },
    }),
    ...deliveryFields(t),
  }),
});

const EventChangeFilterInput = builder.inputType('EventChangeFilter', {
  description:
    'Selection of earthquakes for a subscription, by the values known when the solution was issued. An ' +
    'earthquake must meet every condition given.',
  fields: (t) => ({
    minMagnitude: t.float({
      description: 'Least magnitude, included. An earthquake without a magnitude is left out.',
    }),
    within: t.field({
      type: RadiusInput,
      description: 'Circle in which the epicentre must lie, its edge included.',
    }),
    boundingBox: t.field({
      type: BoundingBoxInput,
      description: 'Box in which the epicentre must lie, its edges included.',
    }),
  }),
});

builder.subscriptionField('eventChanges', (t) =>
  t.field({
    type: EventChangeRef,
    nullable: false,
    description:
      'Feed of earthquake solutions issued or reissued from now on, or since the cursor `after`. It ' +
      'polls the project interface and, about once a minute, the catalogue interface, as far as they are ' +
      'configured. An earthquake that the catalogue alone has is ISSUED by it, and REISSUED when the ' +
      'project locates it. Errors: BAD_USER_INPUT; NOT_CONFIGURED when no interface is ' +
      'configured; CURSOR_INVALID; CURSOR_EXPIRED when `after` can no longer be resumed from without ' +
      `loss, as after ${limits.resumeMs / dayMs} days; FORBIDDEN on a plan without earthquake detection; FELL_BEHIND for a ` +
      `subscriber that is ${limits.changesBehind} changes behind.`,
    args: {
      filter: t.arg({
        type: EventChangeFilterInput,
        description: 'Selection of earthquakes; the default is all.',
      }),
      after: t.arg.string({
        description:
          'Cursor of a change, or `changesCursor` of a list of earthquakes, behind which the feed ' +
          'resumes; the default is to begin with the changes from now on.',
      }),
    },
    subscribe: (_, { filter, after }, { feeds }) =>
      feeds.eventChanges({ filter: filter ?? null, after: after ?? null }),
    resolve: (delivery) => delivery,
  }),
);

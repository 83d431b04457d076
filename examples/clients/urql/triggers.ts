import { type Client, gql, type TypedDocumentNode } from '@urql/core';
import { fail } from '../page.js';
import { isCursorLost } from '../problems.js';
import type {
  TriggerChangesSubscription,
  TriggerChangesSubscriptionVariables,
  TriggersQuery,
  TriggersQueryVariables,
} from './generated/operations.js';

const TRIGGERS: TypedDocumentNode<TriggersQuery, TriggersQueryVariables> = gql`
  query Triggers($first: Int, $after: String) {
    triggers(first: $first, after: $after) {
      nodes { id triggerId status startTime }
      pageInfo { hasNextPage endCursor }
      changesCursor
    }
  }
`;

const TRIGGER_CHANGES: TypedDocumentNode<TriggerChangesSubscription, TriggerChangesSubscriptionVariables> =
  gql`
  subscription TriggerChanges($after: String) {
    triggerChanges(after: $after) { cursor trigger { id triggerId status startTime } }
  }
`;

/** The list of triggers with its pages, which follows what happens. */
export function watchTriggers(client: Client, show: (rows: readonly string[]) => void) {
  const firstPage = { first: 2 };
  let endCursor: string | null = null;
  // Every page that is read later is part of this answer: `relayPagination` joins them.
  client.query(TRIGGERS, firstPage).subscribe(({ data, error }) => {
    if (!data?.triggers) return fail(error ?? new Error('There is no list'));
    endCursor = data.triggers.pageInfo.endCursor;
    show(data.triggers.nodes.map(({ triggerId, status }) => `${triggerId} ${status}`));
  });
  const refetch = () => client.query(TRIGGERS, firstPage, { requestPolicy: 'network-only' }).toPromise();

  function follow(after: string | null | undefined): void {
    client.subscription(TRIGGER_CHANGES, { after: after ?? null }).subscribe(({ error }) => {
      if (!error) return;
      if (!error.graphQLErrors.some(isCursorLost)) return console.error(error);
      void refetch().then(({ data }) => follow(data?.triggers?.changesCursor));
    });
  }
  // From where the list ends, so that nothing is lost between the two.
  void client
    .query(TRIGGERS, firstPage)
    .toPromise()
    .then(({ data }) => follow(data?.triggers?.changesCursor));

  return { more: () => client.query(TRIGGERS, { ...firstPage, after: endCursor }).toPromise(), refetch };
}

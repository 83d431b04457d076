import { type ApolloClient, CombinedGraphQLErrors, gql, type TypedDocumentNode } from '@apollo/client';
import { fail } from '../page.js';
import { placeOf } from '../place.js';
import { isCursorLost, type Problem } from '../problems.js';
import type {
  TriggerChangesSubscription,
  TriggerChangesSubscriptionVariables,
  TriggersQuery,
  TriggersQueryVariables,
} from './generated/operations.js';

// Edges, not nodes: `relayStylePagination` joins pages by their edges.
const TRIGGERS: TypedDocumentNode<TriggersQuery, TriggersQueryVariables> = gql`
  query Triggers($first: Int, $after: String) {
    triggers(first: $first, after: $after) {
      edges { node { id triggerId status startTime } }
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
export function watchTriggers(client: ApolloClient, show: (rows: readonly string[]) => void) {
  const firstPage = { first: 2 };
  const list = client.watchQuery({ query: TRIGGERS, variables: firstPage });
  list.subscribe(({ data, dataState, error }) => {
    if (error) fail(error);
    const edges = dataState === 'complete' ? (data.triggers?.edges ?? []) : [];
    if (edges.length > 0) show(edges.map(({ node }) => `${node.triggerId} ${node.status}`));
  });

  function follow(after: string | null | undefined): void {
    const stop = list.subscribeToMore({
      document: TRIGGER_CHANGES,
      // From where the list ends, so that nothing is lost between the two.
      variables: { after: after ?? null },
      updateQuery(_, { subscriptionData, previousData, complete }) {
        if (!complete || !previousData.triggers) return;
        const { trigger } = subscriptionData.data.triggerChanges;
        const { edges, pageInfo } = previousData.triggers;
        // The cache has changed the triggers of the list already, by their id.
        if (edges.some(({ node }) => node.id === trigger.id)) return;
        const startTimes = edges.map(({ node }) => node.startTime);
        const place = placeOf(trigger.startTime, startTimes, pageInfo.hasNextPage);
        if (place === null) return;
        const edge = { __typename: 'TriggerEdge' as const, node: trigger };
        return { triggers: { ...previousData.triggers, edges: edges.toSpliced(place, 0, edge) } };
      },
      onError(error) {
        const problems: readonly Problem[] = CombinedGraphQLErrors.is(error) ? error.errors : [];
        if (!problems.some(isCursorLost)) return console.error(error);
        stop();
        void list.refetch().then(({ data }) => follow(data?.triggers?.changesCursor));
      },
    });
  }
  void client
    .query({ query: TRIGGERS, variables: firstPage })
    .then(({ data }) => follow(data?.triggers?.changesCursor));

  return {
    more: () =>
      list.fetchMore({
        variables: { after: list.getCurrentResult().data?.triggers?.pageInfo?.endCursor ?? null },
      }),
    refetch: () => list.refetch(),
  };
}

import { startTransition, useMemo } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment, useSubscription } from 'react-relay';
import { ConnectionHandler, type RecordProxy, type RecordSourceSelectorProxy } from 'relay-runtime';
import { placeOf } from '../place.js';
import { isCursorLost, type Problem } from '../problems.js';
import { LiveError } from './environment.js';
import type { Triggers_list$key } from './generated/Triggers_list.graphql.js';
import type { TriggersChangesSubscription } from './generated/TriggersChangesSubscription.graphql.js';
import type { TriggersPageQuery } from './generated/TriggersPageQuery.graphql.js';
import type { TriggersQuery } from './generated/TriggersQuery.graphql.js';
import { Rows } from './Rows.js';

/** The list of triggers with its pages, which follows what happens. */
export function Triggers() {
  const list = useLazyLoadQuery<TriggersQuery>(graphql`query TriggersQuery { ...Triggers_list }`, {});
  const { data, loadNext, refetch } = usePaginationFragment<TriggersPageQuery, Triggers_list$key>(
    graphql`
      fragment Triggers_list on Query
      @refetchable(queryName: "TriggersPageQuery")
      @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" }) {
        triggers(first: $first, after: $after) @connection(key: "Triggers_triggers") {
          __id
          edges { node { id triggerId status startTime } }
          pageInfo { hasNextPage }
          changesCursor
        }
      }
    `,
    list,
  );
  const reload = () => startTransition(() => void refetch({}, { fetchPolicy: 'network-only' }));
  useChanges(data.triggers?.__id, data.triggers?.changesCursor, reload);
  const edges = data.triggers?.edges ?? [];
  return (
    <>
      <Rows rows={edges.map(({ node }) => `${node.triggerId} ${node.status}`)} />
      <button type="button" name="more" onClick={() => loadNext(2)} />
      <button type="button" name="refetch" onClick={reload} />
    </>
  );
}

/** A trigger of the list changes by its id; one that is not in it goes to its place. */
function useChanges(connection: string | undefined, after: string | null | undefined, reload: () => void) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `reload` is another function each time, and would subscribe anew
  const config = useMemo(
    () => ({
      subscription: graphql`
        subscription TriggersChangesSubscription($after: String) {
          triggerChanges(after: $after) {
            cursor
            trigger { id triggerId status startTime }
          }
        }
      `,
      // From where the list ends, so that nothing is lost between the two.
      variables: { after: after ?? null },
      updater: (store: RecordSourceSelectorProxy) => insert(store, connection),
      onError(error: Error) {
        const problems = error instanceof LiveError ? (error.problems as readonly Problem[]) : [];
        if (problems.some(isCursorLost)) reload();
        else console.error(error);
      },
    }),
    [connection, after],
  );
  useSubscription<TriggersChangesSubscription>(config);
}

function insert(store: RecordSourceSelectorProxy, connection: string | undefined): void {
  const list = connection === undefined ? null : store.get(connection);
  const trigger = store.getRootField('triggerChanges')?.getLinkedRecord('trigger');
  if (!list || !trigger) return;
  const edges = (list.getLinkedRecords('edges') ?? []) as RecordProxy[];
  const nodes = edges.map((edge) => edge.getLinkedRecord('node'));
  if (nodes.some((node) => node?.getDataID() === trigger.getDataID())) return;
  const startTimes = nodes.map((node) => node?.getValue('startTime') as string);
  const hasNextPage = list.getLinkedRecord('pageInfo')?.getValue('hasNextPage') === true;
  const place = placeOf(trigger.getValue('startTime') as string, startTimes, hasNextPage);
  if (place === null) return;
  const edge = ConnectionHandler.createEdge(store, list, trigger, 'TriggerEdge');
  list.setLinkedRecords(edges.toSpliced(place, 0, edge), 'edges');
}

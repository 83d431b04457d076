import { placeOf } from '../place.js';
import { isCursorLost, type Problem } from '../problems.js';
import { createSocket } from '../socket.js';
import { execute, subscribe } from './execute.js';
import { type FragmentType, graphql, readFragment } from './generated/index.js';

const ROW = graphql(`
  fragment TriggerRow on Trigger { triggerId status startTime }
`);

/** Sees what its fragment selects and nothing else, whoever reads it. */
function rowOf(masked: FragmentType<typeof ROW>): Row {
  const { triggerId, status, startTime } = readFragment(ROW, masked);
  return { text: `${triggerId} ${status}`, startTime };
}

interface Row {
  readonly text: string;
  readonly startTime: string;
}

const TRIGGERS = graphql(`
  query Triggers($first: Int, $after: String) {
    triggers(first: $first, after: $after) {
      nodes { id ...TriggerRow }
      pageInfo { hasNextPage endCursor }
      changesCursor
    }
  }
`);

const TRIGGER_CHANGES = graphql(`
  subscription TriggerChanges($after: String) {
    triggerChanges(after: $after) { cursor trigger { id ...TriggerRow } }
  }
`);

/** The list of triggers with its pages, which follows what happens. Without a cache, the page holds the rows itself. */
export function watchTriggers(gateway: string, show: (rows: readonly string[]) => void) {
  const socket = createSocket(gateway);
  let rows = new Map<string, Row>();
  let page: { readonly hasNextPage: boolean; readonly endCursor: string | null } | null = null;
  const startTimes = () => [...rows.values()].map(({ startTime }) => startTime);
  const showAll = () => show([...rows.values()].map(({ text }) => text));

  async function read(after: string | null) {
    const { data, errors } = await execute(gateway, TRIGGERS, { first: 2, after });
    // A list that cannot be read at all is null, and the error says why.
    if (!data?.triggers) throw new Error(errors?.[0]?.message);
    const { nodes, pageInfo, changesCursor } = data.triggers;
    rows = new Map([...(after ? rows : []), ...nodes.map((node) => [node.id, rowOf(node)] as const)]);
    page = pageInfo;
    showAll();
    return changesCursor;
  }

  function follow(after: string | null | undefined): void {
    subscribe(
      socket,
      TRIGGER_CHANGES,
      { after: after ?? null },
      {
        next({ data }) {
          if (!data) return;
          const { trigger } = data.triggerChanges;
          const row = rowOf(trigger);
          // A row that is known keeps its place.
          const place = rows.has(trigger.id)
            ? null
            : placeOf(row.startTime, startTimes(), page?.hasNextPage ?? false);
          if (rows.has(trigger.id)) rows.set(trigger.id, row);
          else if (place !== null) rows = new Map([...rows].toSpliced(place, 0, [trigger.id, row]));
          showAll();
        },
        error(problem) {
          const problems = Array.isArray(problem) ? (problem as Problem[]) : [];
          if (!problems.some(isCursorLost)) return console.error(problem);
          void read(null).then(follow);
        },
      },
    );
  }
  // From where the list ends, so that nothing is lost between the two.
  void read(null).then(follow);

  return { more: () => read(page?.endCursor ?? null), refetch: () => read(null) };
}

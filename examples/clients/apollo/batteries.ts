import { type ApolloClient, CombinedGraphQLErrors, gql, type TypedDocumentNode } from '@apollo/client';
import { problemAt, textOf } from '../problems.js';
import type { BatteriesQuery, BatteriesQueryVariables } from './generated/operations.js';

// Each health report is a request to the service: the gateway answers at once, and each battery follows when it is there.
const BATTERIES: TypedDocumentNode<BatteriesQuery, BatteriesQueryVariables> = gql`
  query Batteries($first: Int) {
    sensors(first: $first) {
      edges { node { id stationCode ... @defer(label: "battery") { latestHealthReport { batteryVolts } } } }
    }
  }
`;

/** What could be read is shown, a reason where a value could not, and … for what is not there yet. */
export function watchBatteries(client: ApolloClient, show: (rows: readonly string[]) => void): void {
  // The default throws away the data where there is an error.
  const batteries = client.watchQuery({
    query: BATTERIES,
    variables: { first: 2 },
    errorPolicy: 'all',
    fetchPolicy: 'network-only',
  });
  batteries.subscribe(({ data, error }) => {
    const problems = CombinedGraphQLErrors.is(error) ? error.errors : [];
    if (!data?.sensors?.edges) return;
    show(
      data.sensors.edges.map((edge, index) => {
        const { stationCode, latestHealthReport: report } = edge?.node ?? {};
        const problem = problemAt(['sensors', 'edges', index, 'node', 'latestHealthReport'], problems);
        if (problem) return `${stationCode}: ${textOf(problem)}`;
        return `${stationCode}: ${report === undefined ? '…' : `${report?.batteryVolts ?? 'unknown'} V`}`;
      }),
    );
  });
}

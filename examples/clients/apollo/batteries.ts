import { type ApolloClient, CombinedGraphQLErrors, gql, type TypedDocumentNode } from '@apollo/client';
import { problemAt, textOf } from '../problems.js';
import type { BatteriesQuery, BatteriesQueryVariables } from './generated/operations.js';

const BATTERIES: TypedDocumentNode<BatteriesQuery, BatteriesQueryVariables> = gql`
  query Batteries($first: Int) {
    sensors(first: $first) {
      edges { node { id stationCode latestHealthReport { batteryVolts } } }
    }
  }
`;

/** What could be read is shown, and a reason where a value could not. */
export async function batteriesOf(client: ApolloClient): Promise<readonly string[]> {
  // The default throws away the data where there is an error.
  const { data, error } = await client.query({
    query: BATTERIES,
    variables: { first: 2 },
    errorPolicy: 'all',
    fetchPolicy: 'network-only',
  });
  const problems = CombinedGraphQLErrors.is(error) ? error.errors : [];
  return (data?.sensors?.edges ?? []).map(({ node }, index) => {
    const problem = problemAt(['sensors', 'edges', index, 'node', 'latestHealthReport'], problems);
    const volts = node.latestHealthReport?.batteryVolts ?? 'unknown';
    return `${node.stationCode}: ${problem ? textOf(problem) : `${volts} V`}`;
  });
}

import { type Client, gql, type TypedDocumentNode } from '@urql/core';
import { problemAt, textOf } from '../problems.js';
import type { BatteriesQuery, BatteriesQueryVariables } from './generated/operations.js';

const BATTERIES: TypedDocumentNode<BatteriesQuery, BatteriesQueryVariables> = gql`
  query Batteries($first: Int) {
    sensors(first: $first) {
      nodes { id stationCode latestHealthReport { batteryVolts } }
    }
  }
`;

/** What could be read is shown, and a reason where a value could not: urql has both in one result. */
export async function batteriesOf(client: Client): Promise<readonly string[]> {
  const { data, error } = await client.query(BATTERIES, { first: 2 }, { requestPolicy: 'network-only' });
  return (data?.sensors?.nodes ?? []).map(({ stationCode, latestHealthReport }, index) => {
    const path = ['sensors', 'nodes', index, 'latestHealthReport'];
    const problem = problemAt(path, error?.graphQLErrors ?? []);
    return `${stationCode}: ${problem ? textOf(problem) : `${latestHealthReport?.batteryVolts ?? 'unknown'} V`}`;
  });
}

import { problemAt, textOf } from '../problems.js';
import { execute } from './execute.js';
import { graphql } from './generated/index.js';

const BATTERIES = graphql(`
  query Batteries($first: Int) {
    sensors(first: $first) {
      nodes { id stationCode latestHealthReport { batteryVolts } }
    }
  }
`);

/** What could be read is shown, and a reason where a value could not. */
export async function batteriesOf(gateway: string): Promise<readonly string[]> {
  const { data, errors = [] } = await execute(gateway, BATTERIES, { first: 2 });
  return (data?.sensors?.nodes ?? []).map(({ stationCode, latestHealthReport }, index) => {
    const problem = problemAt(['sensors', 'nodes', index, 'latestHealthReport'], errors);
    return `${stationCode}: ${problem ? textOf(problem) : `${latestHealthReport?.batteryVolts ?? 'unknown'} V`}`;
  });
}

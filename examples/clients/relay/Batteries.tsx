import { graphql, useLazyLoadQuery } from 'react-relay';
import { type Problem, textOf } from '../problems.js';
import type { BatteriesQuery } from './generated/BatteriesQuery.graphql.js';
import { Rows } from './Rows.js';

/** What could be read is shown, and a reason where a value could not: `@catch` keeps the errors at their field. */
export function Batteries() {
  const { sensors } = useLazyLoadQuery<BatteriesQuery>(
    graphql`
      query BatteriesQuery {
        sensors(first: 2) {
          nodes { id stationCode latestHealthReport @catch { batteryVolts } }
        }
      }
    `,
    {},
    { fetchPolicy: 'network-only' },
  );
  const rows = (sensors?.nodes ?? []).map(({ stationCode, latestHealthReport: report }) => {
    // Relay's types leave out the extensions, which are there.
    const text = report.ok
      ? `${report.value?.batteryVolts ?? 'unknown'} V`
      : textOf(report.errors[0] as Problem);
    return `${stationCode}: ${text}`;
  });
  return <Rows part="batteries" rows={rows} />;
}

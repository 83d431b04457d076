import { Suspense, useEffect } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import { type Problem, textOf } from '../problems.js';
import type { Batteries_sensor$key } from './generated/Batteries_sensor.graphql.js';
import type { BatteriesQuery } from './generated/BatteriesQuery.graphql.js';

/** The sensors at once, and the battery of each when it is there. `onShow` is called with each of the two. */
export function Batteries({ onShow }: { onShow: () => void }) {
  const { sensors } = useLazyLoadQuery<BatteriesQuery>(
    graphql`
      query BatteriesQuery {
        sensors(first: 2) {
          nodes { id stationCode ...Batteries_sensor @defer(label: "battery") }
        }
      }
    `,
    {},
    { fetchPolicy: 'network-only' },
  );
  return (
    <ul>
      {(sensors?.nodes ?? []).map((sensor) => (
        <li key={sensor.id}>
          {sensor.stationCode}:{' '}
          <Suspense fallback={<Shown text="…" onShow={onShow} />}>
            <Battery sensor={sensor} onShow={onShow} />
          </Suspense>
        </li>
      ))}
    </ul>
  );
}

/** The battery, or why it could not be read: `@catch` keeps the errors at their field. */
function Battery({ sensor, onShow }: { sensor: Batteries_sensor$key; onShow: () => void }) {
  const { latestHealthReport: report } = useFragment(
    graphql`
      fragment Batteries_sensor on Sensor {
        latestHealthReport @catch { batteryVolts }
      }
    `,
    sensor,
  );
  // Relay's types leave out the extensions, which are there.
  const text = report.ok
    ? `${report.value?.batteryVolts ?? 'unknown'} V`
    : textOf(report.errors[0] as Problem);
  return <Shown text={text} onShow={onShow} />;
}

function Shown({ text, onShow }: { text: string; onShow: () => void }) {
  useEffect(onShow);
  return text;
}

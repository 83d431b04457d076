import { useMemo } from 'react';
import { RangeChart } from '../charts/range-chart.js';
import { useNow, useQuery } from '../data/use-world.js';
import { HealthHistoryDocument, type HealthHistoryQuery } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { addressWith } from '../shell/route.js';
import { Scroll } from '../shell/scroll.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

const dayMs = 86_400_000;
// A window that ends at a full five minutes is the same for all who look within them, and is answered from the cache.
const stepMs = 300_000;

type Bucket = NonNullable<NonNullable<HealthHistoryQuery['sensor']>['healthHistory']>['buckets'][number];

type Chart = readonly [string, string, number, (bucket: Bucket) => Bucket['batteryVolts']];

/** State of health of a day or a week, as small charts over the same time. */
export function Health({ id, isWeek }: { readonly id: string; readonly isWeek: boolean }) {
  const texts = useTexts();
  const now = useNow(stepMs);
  const variables = useMemo(() => {
    const to = Math.floor(now / stepMs) * stepMs;
    const from = to - (isWeek ? 7 : 1) * dayMs;
    return {
      id,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      buckets: isWeek ? 168 : 96,
    };
  }, [id, isWeek, now]);
  const { data, error, isLoading } = useQuery(HealthHistoryDocument, variables);
  const history = data?.sensor?.healthHistory;
  const known: readonly Chart[] = [
    [texts.battery, 'V', 2, ({ batteryVolts }) => batteryVolts],
    [texts.temperature, '°C', 1, ({ temperatureC }) => temperatureC],
    [texts.signal, 'dBm', 0, ({ signalStrengthDbm }) => signalStrengthDbm],
    [texts.signal, '%', 0, ({ signalStrengthPct }) => signalStrengthPct],
    [texts.buffer, '%', 0, ({ bufferUsagePct }) => bufferUsagePct],
    [texts.syncAge, 's', 0, ({ syncAgeS }) => syncAgeS],
  ];
  const charts = known.filter(([, , , choose]) => history?.buckets.some((bucket) => choose(bucket) !== null));
  const range = (range: string, text: string, isChosen: boolean) => (
    <a href={addressWith({ range })} aria-current={isChosen ? 'true' : undefined}>
      {text}
    </a>
  );
  return (
    <section className="section" aria-labelledby="health-title">
      <div className="title">
        <h2 id="health-title">{texts.sensorHealth}</h2>
        <span className="ranges">
          {range('24h', texts.day, !isWeek)} {range('7d', texts.week, isWeek)}
        </span>
      </div>
      {error && <Problem faults={[error]} isRepeated={false} />}
      {!history && isLoading && <p className="muted">{texts.loading}</p>}
      {history?.reportCount === 0 && <p className="muted">{texts.noReports}</p>}
      {history && history.reportCount > 0 && (
        <>
          <div className="multiples" aria-busy={isLoading}>
            {charts.map(([name, unit, digits, choose]) => (
              <RangeChart
                key={name + unit}
                name={name}
                unit={unit}
                digits={digits}
                points={history.buckets.map((bucket) => ({
                  from: bucket.from,
                  to: bucket.to,
                  value: choose(bucket),
                }))}
              />
            ))}
          </div>
          <p className="muted">{texts.gaps}</p>
          <ValuesTable charts={charts} buckets={history.buckets} />
        </>
      )}
    </section>
  );
}

interface ValuesTableProps {
  readonly charts: readonly Chart[];
  readonly buckets: readonly Bucket[];
}

/** What the charts show, for those who cannot see them. */
function ValuesTable({ charts, buckets }: ValuesTableProps) {
  const texts = useTexts();
  const format = useFormat();
  return (
    <details>
      <summary>{texts.valuesAsTable}</summary>
      <Scroll label={texts.sensorHealth} className="tall">
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.time}</th>
              {charts.map(([name, unit]) => (
                <th key={name + unit} scope="col" className="number">
                  {name} ({unit})
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {buckets.map((bucket) => (
              <tr key={bucket.from}>
                <th scope="row">{format.precise(bucket.from).slice(0, 16)}</th>
                {charts.map(([name, unit, digits, choose]) => {
                  const value = choose(bucket);
                  return (
                    <td key={name + unit} className="number">
                      {value === null
                        ? '–'
                        : [value.min, value.mean, value.max]
                            .map((one) => format.number(one, digits))
                            .join(' / ')}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

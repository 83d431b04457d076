import { useMemo } from 'react';
import { RangeChart } from '../charts/range-chart.js';
import { useNow, useQuery } from '../data/use-world.js';
import { HealthHistoryDocument, type HealthHistoryQuery } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { useTexts } from '../texts/texts.js';

const dayMs = 86_400_000;
// A window that ends at a full five minutes is the same for all who look within them, and is answered from the cache.
const stepMs = 300_000;

type Bucket = NonNullable<NonNullable<HealthHistoryQuery['sensor']>['healthHistory']>['buckets'][number];

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
  const charts: readonly (readonly [string, string, number, (bucket: Bucket) => Bucket['batteryVolts']])[] = [
    [texts.battery, 'V', 2, ({ batteryVolts }) => batteryVolts],
    [texts.temperature, '°C', 1, ({ temperatureC }) => temperatureC],
    [texts.signal, 'dBm', 0, ({ signalStrengthDbm }) => signalStrengthDbm],
    [texts.signal, '%', 0, ({ signalStrengthPct }) => signalStrengthPct],
    [texts.buffer, '%', 0, ({ bufferUsagePct }) => bufferUsagePct],
    [texts.syncAge, 's', 0, ({ syncAgeS }) => syncAgeS],
  ];
  const range = (range: string, text: string, isChosen: boolean) => (
    <a href={hrefOf('sensors', id, { range })} aria-current={isChosen ? 'true' : undefined}>
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
      {error && <Problem text={`${error.code}: ${error.message}`} isRepeated={false} />}
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
        </>
      )}
    </section>
  );
}

import { useNow, useQuery } from '../data/use-world.js';
import { LatestReportDocument, SensorPageDocument, type SensorPageQuery } from '../operations/operations.js';
import { NotFound } from '../shell/not-found.js';
import { oldReportAge, reportAgainMs } from '../shell/old-report.js';
import { Problem } from '../shell/problem.js';
import { statusOf } from '../shell/status-of.js';
import { useTitle } from '../shell/title.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { Health } from './health.js';
import { SensorTriggers } from './sensor-triggers.js';

interface SensorProps {
  readonly id: string;
  readonly parameters: URLSearchParams;
}

// The status, like all of the answer, is of the moment of the question.
const againMs = 60_000;

/** One station: who it is, how it is, and what it recorded. */
export function Sensor({ id, parameters }: SensorProps) {
  const texts = useTexts();
  const round = Math.floor(useNow(againMs) / againMs);
  const { data, error, isLoading } = useQuery(SensorPageDocument, { id }, round);
  const sensor = data?.sensor;
  const name = sensor && [sensor.networkCode, sensor.stationCode].filter(Boolean).join('.');
  useTitle(name ? texts.stationTitle(name) : texts.station);
  if (!sensor) {
    // What is no id at all is refused, and names no station either.
    if (error && error.code !== 'BAD_USER_INPUT') return <Problem faults={[error]} isRepeated={false} />;
    if (isLoading) return <p className="muted">{texts.loading}</p>;
    return <NotFound title={texts.noSuchStation} />;
  }
  return (
    <>
      {error && <Problem faults={[error]} isRepeated={false} />}
      <div className="title">
        <h1>{name}</h1>
        <span className="muted">{sensor.sources.map((source) => texts.source[source]).join(' + ')}</span>
      </div>
      {sensor.location?.masked && <p className="note">{texts.maskedNote}</p>}
      <div className="sections">
        <Facts sensor={sensor} />
        {sensor.deviceId !== null && <Health id={id} isWeek={parameters.get('range') === '7d'} />}
        <SensorTriggers
          id={id}
          isOfProject={sensor.deviceId !== null}
          hasWaveform={sensor.catalogueId !== null}
          parameters={parameters}
        />
      </div>
    </>
  );
}

function Facts({ sensor }: { readonly sensor: NonNullable<SensorPageQuery['sensor']> }) {
  const texts = useTexts();
  const format = useFormat();
  const now = useNow(1_000);
  const { location, lastSeenAt, power, deviceId } = sensor;
  // Not with the station itself, which need not wait for this request.
  const variables = deviceId === null ? null : { id: sensor.id };
  const { data } = useQuery(LatestReportDocument, variables, Math.floor(now / reportAgainMs));
  const reportAge = oldReportAge(sensor, data?.sensor?.latestHealthReport, now, format);
  const signal = sensor.connectivity?.signalStrength;
  const site = location?.masked ? texts.withheld : (location?.name ?? '–');
  const position = location
    ? `${location.masked ? '≈ ' : ''}${format.place(location.latitude, location.longitude, location.masked ? 2 : 4)}`
    : '–';
  const facts: readonly (readonly [string, string])[] = [
    [texts.status, statusOf(sensor, texts)],
    [texts.lastSeen, lastSeenAt ? texts.ago(format.ageOf(lastSeenAt, now)) : '–'],
    [texts.position, position],
    [texts.elevation, format.number(location?.elevationM, 0, 'm')],
    [texts.site, site],
    [texts.model, sensor.model ?? '–'],
    [texts.firmware, sensor.firmwareVersion ?? '–'],
    [texts.battery, format.number(power?.batteryVolts, 1, 'V')],
    [texts.signal, format.number(signal?.value, 0, signal?.unit === 'DBM' ? 'dBm' : '%')],
  ];
  return (
    <section className="section" aria-label={texts.station}>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {reportAge && <p className="warning">{texts.reportedFacts(reportAge)}</p>}
    </section>
  );
}

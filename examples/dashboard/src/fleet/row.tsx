import { Sparkline } from '../charts/sparkline.js';
import type { SensorItem } from '../data/world.js';
import { oldReportAge } from '../shell/old-report.js';
import { hrefOf } from '../shell/route.js';
import { statusOf } from '../shell/status-of.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import type { Health } from './use-health.js';

interface RowProps {
  readonly sensor: SensorItem;
  /** Null without a report, undefined where it was not read. */
  readonly health: Health | null | undefined;
  readonly now: number;
}

export function Row({ sensor, health, now }: RowProps) {
  const texts = useTexts();
  const format = useFormat();
  const { power, connectivity, status, lastSeenAt } = sensor;
  const signal = connectivity?.signalStrength;
  const reportAge = oldReportAge(sensor, health?.latestHealthReport, now, format);
  const seen = lastSeenAt && texts.ago(format.ageOf(lastSeenAt, now));
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf('sensors', sensor.id)}>{nameOf(sensor)}</a>
        {sensor.location?.masked && <span className="badge">{texts.masked.split(':')[0]}</span>}
        {/* In the heading of the row, which a screen reader says with each of its values. */}
        {reportAge && <span className="badge">{texts.reportOf(reportAge)}</span>}
      </th>
      <td>
        <span className={`dot ${status}`} aria-hidden="true" />
        {statusOf(sensor, texts)}
      </td>
      <td>{seen ?? '–'}</td>
      <td className="number">
        {format.number(power?.batteryVolts, 1, 'V')}
        {power?.charging && <span className="badge">{texts.charging}</span>}
      </td>
      <td className="number">
        {signal ? format.number(signal.value, 0, signal.unit === 'DBM' ? 'dBm' : '%') : '–'}
      </td>
      <OfReport health={sensor.deviceId === null ? null : health} />
    </tr>
  );
}

/** The columns that a state-of-health report fills. */
function OfReport({ health }: Pick<RowProps, 'health'>) {
  const texts = useTexts();
  const format = useFormat();
  if (health === undefined) {
    return (
      <td colSpan={4} className="missing">
        {texts.unread}
      </td>
    );
  }
  const report = health?.latestHealthReport;
  const volts = (health?.healthHistory?.buckets ?? []).map(({ batteryVolts }) => batteryVolts?.mean ?? null);
  const [first, last] = [volts.find((value) => value !== null), volts.findLast((value) => value !== null)];
  return (
    <>
      <td>
        {first === undefined || last === undefined ? (
          '–'
        ) : (
          <Sparkline
            values={volts}
            label={texts.trend(format.number(first, 1, 'V'), format.number(last, 1, 'V'))}
          />
        )}
      </td>
      <td className="number">{format.number(report?.temperatureC, 1, '°C')}</td>
      <td>{report?.firmwareVersion ?? '–'}</td>
      <td
        title={
          report?.clockQuality && report.syncAgeS !== null
            ? texts.clockSynced(report.clockQuality, format.span(report.syncAgeS * 1_000))
            : undefined
        }
      >
        {report?.clockQuality ?? '–'}
        {report && report.syncAgeS !== null && (
          <span className="muted"> {format.span(report.syncAgeS * 1_000)}</span>
        )}
      </td>
    </>
  );
}

export const nameOf = ({ networkCode, stationCode, deviceId }: SensorItem): string =>
  [networkCode, stationCode || deviceId].filter(Boolean).join('.');

import { useMemo, useState } from 'react';
import { useNow, useWorld } from '../data/use-world.js';
import type { SensorItem } from '../data/world.js';
import { statusText } from '../map/card.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { type Order, orders, sorted } from './order.js';
import { type Report, useHealthReports } from './use-health-reports.js';

const rowsOfPage = 20;
const oldReportMs = 3_600_000;

/** All stations, the worst first: a station keeper sees on the first page what needs a visit. */
export function Fleet({ parameters }: { readonly parameters: URLSearchParams }) {
  const texts = useTexts();
  const { sensors, problems, answeredAtMs } = useWorld();
  const [sought, setSought] = useState('');
  const order = orders.find((name) => name === parameters.get('order')) ?? 'worst';
  const isDescending = parameters.get('direction') === 'desc';
  const found = useMemo(() => {
    const word = sought.trim().toUpperCase();
    const all = [...sensors.values()].filter((sensor) => nameOf(sensor).toUpperCase().includes(word));
    return sorted(all, order, isDescending);
  }, [sensors, sought, order, isDescending]);
  const pages = Math.max(1, Math.ceil(found.length / rowsOfPage));
  const page = Math.min(pages, Math.max(1, Number(parameters.get('page')) || 1));
  const rows = found.slice((page - 1) * rowsOfPage, page * rowsOfPage);
  const reports = useHealthReports(rows);
  const linkTo = (target: number) => {
    const kept = { order, ...(isDescending && { direction: 'desc' }) };
    return hrefOf('stations', '', { ...kept, page: String(target) });
  };
  const online = [...sensors.values()].filter(({ status }) => status === 'ONLINE').length;
  return (
    <>
      <div className="title">
        <h1>{texts.fleet}</h1>
        <span className="muted">{texts.stationsOnline(online, sensors.size)}</span>
      </div>
      {problems.sensors && <Problem text={problems.sensors} />}
      <div className="controls">
        <input
          type="search"
          value={sought}
          placeholder={texts.search}
          aria-label={texts.search}
          onChange={(event) => setSought(event.target.value)}
        />
        <a href={hrefOf('stations')} aria-current={order === 'worst' ? 'true' : undefined}>
          {texts.worstFirst}
        </a>
      </div>
      <div className="section scroll">
        <table>
          <thead>
            <tr>
              <Heading order="code" now={order} isDescending={isDescending} text={texts.code} />
              <Heading order="status" now={order} isDescending={isDescending} text={texts.status} />
              <Heading order="seen" now={order} isDescending={isDescending} text={texts.lastSeen} />
              <Heading order="battery" now={order} isDescending={isDescending} text={texts.battery} />
              <Heading order="signal" now={order} isDescending={isDescending} text={texts.signal} />
              <th scope="col" className="number">
                {texts.temperature}
              </th>
              <th scope="col">{texts.knownTo}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((sensor) => (
              <Row key={sensor.id} sensor={sensor} report={reports.get(sensor.id)} />
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p className="muted">{answeredAtMs ? texts.nothing : texts.loading}</p>}
      </div>
      <nav className="controls" aria-label={texts.page(page, pages)}>
        {page > 1 && <a href={linkTo(page - 1)}>← {texts.previous}</a>}
        <span className="muted">{texts.page(page, pages)}</span>
        {page < pages && <a href={linkTo(page + 1)}>{texts.next} →</a>}
      </nav>
      <p className="muted">{texts.healthCost}</p>
    </>
  );
}

interface HeadingProps {
  readonly order: Order;
  readonly now: Order;
  readonly isDescending: boolean;
  readonly text: string;
}

function Heading({ order, now, isDescending, text }: HeadingProps) {
  const isSorted = order === now;
  const direction = isSorted && !isDescending ? { direction: 'desc' } : {};
  return (
    <th
      scope="col"
      className={isNumber(order) ? 'number' : undefined}
      aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}
    >
      <a href={hrefOf('stations', '', { order, ...direction })}>
        {text} {isSorted && <span aria-hidden="true">{isDescending ? '▼' : '▲'}</span>}
      </a>
    </th>
  );
}

interface RowProps {
  readonly sensor: SensorItem;
  /** Null without a report, undefined where it was not read. */
  readonly report: Report | undefined;
}

function Row({ sensor, report }: RowProps) {
  const texts = useTexts();
  const format = useFormat();
  const now = useNow(10_000);
  const { power, connectivity, status, lastSeenAt, sources } = sensor;
  const signal = connectivity?.signalStrength;
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf('sensors', sensor.id)}>{nameOf(sensor)}</a>
        {sensor.location?.masked && <span className="badge">{texts.masked.split(':')[0]}</span>}
      </th>
      <td>
        <span className={`dot ${status}`} aria-hidden="true" />
        {texts[statusText[status]]}
      </td>
      <td>{lastSeenAt ? texts.ago(format.ageOf(lastSeenAt, now)) : '–'}</td>
      <td className="number">
        {format.number(power?.batteryVolts, 1, 'V')}
        {power?.charging && <span className="badge">{texts.charging}</span>}
      </td>
      <td className="number">{format.number(signal?.value, 0, signal?.unit === 'DBM' ? 'dBm' : '%')}</td>
      <td className="number">
        {report === undefined ? '…' : format.number(report?.temperatureC, 1, '°C')}
        {/* A silent station has an old report, which must not look like its present state. */}
        {report && now - Date.parse(report.timestamp) > oldReportMs && (
          <span className="badge">{texts.ago(format.ageOf(report.timestamp, now))}</span>
        )}
      </td>
      <td className="muted">{sources.map((source) => texts.source[source]).join(' + ')}</td>
    </tr>
  );
}

const isNumber = (order: Order) => order === 'battery' || order === 'signal';

const nameOf = ({ networkCode, stationCode, deviceId }: SensorItem) =>
  [networkCode, stationCode || deviceId].filter(Boolean).join('.');

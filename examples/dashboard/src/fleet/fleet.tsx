import { useMemo } from 'react';
import { useConfigured } from '../data/use-configured.js';
import { useNow, useWorld } from '../data/use-world.js';
import { AsOf } from '../shell/as-of.js';
import { Problem } from '../shell/problem.js';
import { addressWith } from '../shell/route.js';
import { Scroll } from '../shell/scroll.js';
import { useTitle } from '../shell/title.js';
import { useTexts } from '../texts/texts.js';
import { type Order, orders, sorted } from './order.js';
import { nameOf, Row } from './row.js';
import { useHealth } from './use-health.js';

const rowsOfPage = 20;

/** All stations, the worst first: a station keeper sees on the first page what needs a visit. */
export function Fleet({ parameters }: { readonly parameters: URLSearchParams }) {
  const texts = useTexts();
  const { sensors, problems, answeredAtMs } = useWorld();
  const hasReports = useConfigured('PROJECT');
  const now = useNow(1_000);
  useTitle(texts.fleet);
  const sought = parameters.get('find') ?? '';
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
  const health = useHealth(rows);
  const linkTo = (target: number) => addressWith({ page: String(target) });
  const online = [...sensors.values()].filter(({ status }) => status === 'ONLINE').length;
  const sortOf = (name: Order) =>
    name !== order ? undefined : isDescending ? 'descending' : ('ascending' as const);
  const link = (name: Order, text: string) => (
    <a
      href={addressWith({ order: name, direction: sortOf(name) === 'ascending' ? 'desc' : null, page: null })}
    >
      {text} {name === order && <span aria-hidden="true">{isDescending ? '▼' : '▲'}</span>}
    </a>
  );
  const heading = (name: Order, text: string) => (
    <th scope="col" className={name === 'battery' ? 'number' : undefined} aria-sort={sortOf(name)}>
      {link(name, text)}
    </th>
  );
  return (
    <>
      <div className="title">
        <h1>{texts.fleet}</h1>
        <span className="muted">
          {texts.stationsOnline(online, sensors.size)}
          <AsOf />
        </span>
      </div>
      {problems.sensors && <Problem faults={problems.sensors} />}
      <div className="controls">
        <input
          type="search"
          value={sought}
          placeholder={texts.search}
          aria-label={texts.search}
          onChange={({ target }) => find(target.value)}
        />
        <a
          href={addressWith({ order: null, direction: null, page: null })}
          aria-current={order === 'worst' ? 'true' : undefined}
        >
          {texts.worstFirst}
        </a>
      </div>
      {order === 'worst' && <p className="muted">{texts.worstNote}</p>}
      <Scroll label={texts.fleet} className="section">
        <table>
          <thead>
            <tr>
              {heading('code', texts.code)}
              {heading('status', texts.status)}
              {heading('seen', texts.lastSeen)}
              {heading('battery', texts.battery)}
              <th scope="col" className="number" aria-sort={sortOf('dbm') ?? sortOf('pct')}>
                {texts.signal} {link('dbm', 'dBm')}/ {link('pct', '%')}
              </th>
              <th scope="col">{texts.batteryTrend}</th>
              <th scope="col" className="number">
                {texts.temperature}
              </th>
              <th scope="col">{texts.firmware}</th>
              <th scope="col">{texts.clock}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((sensor) => (
              <Row key={sensor.id} sensor={sensor} health={health.get(sensor.id)} now={now} />
            ))}
          </tbody>
        </table>
        {rows.length === 0 && (
          <p className="muted" role="status">
            {!answeredAtMs ? texts.loading : sought ? texts.noneFound(sought) : texts.noStations}
          </p>
        )}
      </Scroll>
      <nav className="controls" aria-label={texts.page(page, pages)}>
        {page > 1 && <a href={linkTo(page - 1)}>← {texts.previous}</a>}
        <span className="muted">{texts.page(page, pages)}</span>
        {page < pages && <a href={linkTo(page + 1)}>{texts.next} →</a>}
      </nav>
      {hasReports && <p className="muted">{texts.healthCost}</p>}
    </>
  );
}

/** Not a step of the history for each letter. */
function find(word: string): void {
  globalThis.location.replace(addressWith({ find: word || null, page: null }));
}

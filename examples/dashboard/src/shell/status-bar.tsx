import { useNow, useWorld } from '../data/use-world.js';
import type { WorldState } from '../data/world.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

const staleMs = 20_000;

/** How far what is shown can be trusted: connection, age, feeds, budget. It is on every view. */
export function StatusBar() {
  const texts = useTexts();
  const format = useFormat();
  const now = useNow(1_000);
  const { connection, answeredAtMs, gateway } = useWorld();
  const words = {
    connecting: texts.connecting,
    live: texts.liveNow,
    reconnecting: texts.reconnecting,
    refused: texts.refused,
  }[connection];
  const ageMs = answeredAtMs === null ? null : now - answeredAtMs;
  const isStale = ageMs !== null && ageMs > staleMs;
  const late = latestFeedS(gateway);
  return (
    <section className="status" aria-label={texts.stateOfPage}>
      <span className={`connection ${connection}`} role="status">
        <i aria-hidden="true" /> {words}
      </span>
      {ageMs !== null && (
        <span className={isStale ? 'warning' : 'muted'}>
          {texts.dataAge(format.span(ageMs))}
          {isStale && ` (${texts.stale})`}
        </span>
      )}
      {late !== null && <span className="warning">{texts.feedLate(late)}</span>}
      {gateway?.interfaces.map(({ source, configured, reachable, rateLimit }) => {
        if (!configured || !rateLimit) return null;
        const name = texts.source[source];
        if (reachable === false)
          return (
            <span key={source} className="warning">
              {texts.away(name)}
            </span>
          );
        const most = rateLimit.burst ?? rateLimit.perMinute;
        const title = texts.budget(name, rateLimit.remaining, most);
        return (
          <span key={source} className="budget" title={title}>
            <span className="muted">{name}</span>
            <meter
              min={0}
              max={most}
              low={most / 4}
              optimum={most}
              value={rateLimit.remaining}
              aria-label={title}
            />
            {rateLimit.remaining}/{most}
          </span>
        );
      })}
      {gateway?.sandbox && <span className="badge">{texts.sandbox}</span>}
      <Clock now={now} />
    </section>
  );
}

function Clock({ now }: { readonly now: number }) {
  const texts = useTexts();
  const format = useFormat();
  const time = new Date(now).toISOString();
  return (
    <span className="clock">
      {format.utc(time)} <span className="muted">{texts.utc}</span> · {format.local(time)}{' '}
      <span className="muted">{texts.local}</span>
    </span>
  );
}

/** Seconds without a successful poll, where they are many of its intervals. */
function latestFeedS(gateway: WorldState['gateway']): number | null {
  const late = (gateway?.feeds ?? []).flatMap(({ active, lagS, intervalS }) =>
    active && lagS !== null && lagS > Math.max(30, 4 * intervalS) ? Math.round(lagS) : [],
  );
  return late.length > 0 ? Math.max(...late) : null;
}

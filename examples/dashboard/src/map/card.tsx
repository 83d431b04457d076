import { useNow } from '../data/use-world.js';
import { statusOf } from '../shell/status-of.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import type { Found } from './nearest.js';
import { unitPixels } from './unit.js';
import type { Size } from './view.js';

interface CardProps {
  readonly found: Found;
  readonly size: Size;
}

/** What the pointer is at. */
export function Card({ found: { x, y, sensor, event, cluster }, size }: CardProps) {
  const texts = useTexts();
  const format = useFormat();
  const now = useNow(1_000);
  const isRight = x > size.width - 260;
  const pixels = (units: number) => units * unitPixels();
  const style = {
    left: isRight ? undefined : pixels(x + 14),
    right: isRight ? pixels(size.width - x + 14) : undefined,
    top: pixels(Math.min(y + 10, size.height - 110)),
  };
  return (
    <div className="card map-card" style={style}>
      {cluster && (
        <>
          <strong>{texts.cluster(cluster.count, cluster.offline)}</strong>
          <span className="muted">{texts.clusterOpens}</span>
        </>
      )}
      {sensor && (
        <>
          <strong>{[sensor.networkCode, sensor.stationCode].filter(Boolean).join('.')}</strong>
          <span>
            {statusOf(sensor, texts)}
            {sensor.lastSeenAt && `, ${texts.ago(format.ageOf(sensor.lastSeenAt, now))}`}
          </span>
          {sensor.location?.masked && <span className="muted">{texts.masked}</span>}
        </>
      )}
      {event && (
        <>
          <strong>
            M {format.number(event.magnitude, 1)} {event.place ?? texts.unknownPlace}
          </strong>
          <span>
            {format.utc(event.originTime)} {texts.utc} · {texts.ago(format.ageOf(event.originTime, now))}
          </span>
          <span className="muted">{texts.depth(format.number(event.depthKm, 1, 'km'))}</span>
        </>
      )}
    </div>
  );
}

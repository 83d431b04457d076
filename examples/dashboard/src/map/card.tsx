import { useNow } from '../data/use-world.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import type { Mark } from './draw.js';
import type { Size } from './view.js';

/** What the pointer is at. */
export function Card({ mark: { x, y, sensor, event }, size }: { readonly mark: Mark; readonly size: Size }) {
  const texts = useTexts();
  const format = useFormat();
  const now = useNow(1_000);
  const style = {
    left: x > size.width - 260 ? undefined : x + 14,
    right: x > size.width - 260 ? size.width - x + 14 : undefined,
    top: Math.min(y + 10, size.height - 110),
  };
  return (
    <div className="card map-card" style={style}>
      {sensor && (
        <>
          <strong>{[sensor.networkCode, sensor.stationCode].filter(Boolean).join('.')}</strong>
          <span>
            {texts[statusText[sensor.status]]}
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
          <span className="muted">{texts.depth(format.number(event.depthKm, 1))}</span>
        </>
      )}
    </div>
  );
}

export const statusText = { ONLINE: 'online', OFFLINE: 'offline', UNKNOWN: 'unknown' } as const;

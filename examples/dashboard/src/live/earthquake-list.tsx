import { useNow, useWorld } from '../data/use-world.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

const shown = 25;

export function EarthquakeList() {
  const texts = useTexts();
  const format = useFormat();
  const now = useNow(1_000);
  const { events, problems, answeredAtMs } = useWorld();
  return (
    <section className="panel" aria-labelledby="earthquakes-title">
      <h2 id="earthquakes-title">{texts.earthquakes}</h2>
      {problems.events && <Problem faults={problems.events} />}
      {events.length === 0 && <p className="muted">{answeredAtMs ? texts.noEarthquakes : texts.loading}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus of the keyboard */}
      <ol className="rows" tabIndex={0} aria-labelledby="earthquakes-title">
        {events.slice(0, shown).map((event) => (
          <li key={event.id} data-event={event.id}>
            <span className={`magnitude ${magnitudeClass(event.magnitude)}`}>
              {format.number(event.magnitude, 1)}
            </span>
            <span className="row-text">
              <a href={hrefOf('earthquakes', event.id)}>
                {event.place ?? format.place(event.latitude, event.longitude)}
              </a>
              <span className="muted">
                <Time at={event.originTime} /> · {texts.depth(format.number(event.depthKm, 0, 'km'))}
                {event.isRevised && <span className="badge">{texts.revised}</span>}
              </span>
            </span>
            <span className="age">{texts.ago(format.ageOf(event.originTime, now))}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function magnitudeClass(magnitude: number | null): string {
  if (magnitude === null) return '';
  if (magnitude >= 5) return 'great';
  return magnitude >= 3 ? 'middling' : '';
}

import { useQuery, useWorld } from '../data/use-world.js';
import { EarthquakeDocument } from '../operations/operations.js';
import { NotFound } from '../shell/not-found.js';
import { Problem } from '../shell/problem.js';
import { Time } from '../shell/time.js';
import { useTitle } from '../shell/title.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { Recordings } from './recordings.js';
import { SolutionTable } from './solution-table.js';

/** One earthquake: its solutions, and what the stations recorded of it. */
export function Earthquake({ id }: { readonly id: string }) {
  const texts = useTexts();
  const format = useFormat();
  // A further solution of the project makes the page read again.
  const issuedAt = useWorld().events.find((event) => event.id === id)?.issuedAt;
  const round = issuedAt ? Date.parse(issuedAt) : 0;
  const { data, error, isLoading } = useQuery(EarthquakeDocument, { id }, round);
  const event = data?.event;
  const magnitude = format.number(event?.magnitude, 1);
  const place = event && (event.place ?? format.place(event.latitude, event.longitude));
  useTitle(place ? texts.earthquakeTitle(magnitude, place) : texts.earthquakes);
  if (!event) {
    if (error && error.code !== 'BAD_USER_INPUT') return <Problem faults={[error]} isRepeated={false} />;
    if (isLoading) return <p className="muted">{texts.loading}</p>;
    return <NotFound title={texts.noSuchEarthquake} />;
  }
  return (
    <>
      {error && <Problem faults={[error]} isRepeated={false} />}
      <div className="title">
        <h1>
          M {magnitude} · {place}
        </h1>
        <span className="muted">{event.sources.map((source) => texts.source[source]).join(' + ')}</span>
      </div>
      <p className="muted">
        <Time at={event.originTime} isPrecise /> · {format.local(event.originTime)} {texts.local}
      </p>
      <div className="sections">
        <SolutionTable event={event} round={round} />
        <Recordings event={event} round={round} />
      </div>
    </>
  );
}

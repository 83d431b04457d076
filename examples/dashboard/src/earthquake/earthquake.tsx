import { useQuery, useWorld } from '../data/use-world.js';
import { EarthquakeDocument, type EarthquakeQuery } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { Recordings } from './recordings.js';

type Solution = NonNullable<EarthquakeQuery['event']>;

/** One earthquake: its solution, and what the stations recorded of it. */
export function Earthquake({ id }: { readonly id: string }) {
  const texts = useTexts();
  const format = useFormat();
  // A further solution of the project makes the page read again.
  const issuedAt = useWorld().events.find((event) => event.id === id)?.issuedAt;
  const round = issuedAt ? Date.parse(issuedAt) : 0;
  const { data, error, isLoading } = useQuery(EarthquakeDocument, { id }, round);
  const event = data?.event;
  return (
    <>
      {error && <Problem text={`${error.code}: ${error.message}`} isRepeated={false} />}
      {!event && <p className="muted">{isLoading ? texts.loading : error ? '' : texts.notFound}</p>}
      {event && (
        <>
          <div className="title">
            <h1>
              M {format.number(event.magnitude, 1)} ·{' '}
              {event.place ?? format.place(event.latitude, event.longitude)}
            </h1>
            <span className="muted">{event.sources.map((source) => texts.source[source]).join(' + ')}</span>
          </div>
          <p className="muted">
            <Time at={event.originTime} /> · {format.local(event.originTime)} {texts.local}
          </p>
          <div className="sections">
            <SolutionTable event={event} />
            <Recordings id={id} round={round} />
          </div>
        </>
      )}
    </>
  );
}

/** The shown values come from the catalogue's solution where it has one; the project's own solution stands beside. */
function SolutionTable({ event }: { readonly event: Solution }) {
  const texts = useTexts();
  const format = useFormat();
  const { projectOrigin: own, quality } = event;
  const plusMinus = (value: number | null, digits: number, unit: string) =>
    value === null ? '' : ` ± ${format.number(value, digits, unit)}`;
  const rows: readonly (readonly [string, string, string])[] = [
    [
      `${texts.originTime} (${texts.utc})`,
      format.precise(event.originTime),
      own ? format.precise(own.originTime) : '–',
    ],
    [
      texts.position,
      format.place(event.latitude, event.longitude, 4) + plusMinus(event.horizontalUncertaintyKm, 1, 'km'),
      own ? format.place(own.latitude, own.longitude, 4) : '–',
    ],
    [
      texts.depthName,
      format.number(event.depthKm, 1, 'km') + plusMinus(event.depthUncertaintyKm, 1, 'km'),
      format.number(own?.depthKm, 1, 'km'),
    ],
    [
      texts.magnitude,
      `${format.number(event.magnitude, 2)} ${event.magnitudeType ?? ''}${plusMinus(event.magnitudeUncertainty, 2, '')}`,
      '–',
    ],
    [
      texts.stationsUsed,
      format.number(quality?.stationsUsed),
      event.stationCount === null ? '–' : format.number(event.stationCount),
    ],
    [texts.gap, format.number(quality?.azimuthalGapDeg, 0, '°'), '–'],
    [texts.rms, format.number(quality?.rmsResidualS, 2, 's'), '–'],
    [`${texts.issuedAt} (${texts.utc})`, '–', own?.issuedAt ? format.precise(own.issuedAt) : '–'],
  ];
  return (
    <section className="section scroll" aria-labelledby="solution-title">
      <h2 id="solution-title">{texts.solution}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{texts.value}</th>
            <th scope="col">{texts.shown}</th>
            <th scope="col">{texts.source.PROJECT}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, shown, ofProject]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{shown}</td>
              <td className={ofProject === '–' ? 'missing' : undefined}>{ofProject}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

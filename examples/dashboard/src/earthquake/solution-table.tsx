import { useQuery } from '../data/use-world.js';
import { type EarthquakeQuery, ProjectMagnitudesDocument } from '../operations/operations.js';
import { Scroll } from '../shell/scroll.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

export type Earthquake = NonNullable<EarthquakeQuery['event']>;

/** A value, or why there is none. */
type Cell = string | { readonly reason: string };

interface SolutionTableProps {
  readonly event: Earthquake;
  readonly round: number;
}

/** The catalogue's solution and the project's, side by side. */
export function SolutionTable({ event, round }: SolutionTableProps) {
  const texts = useTexts();
  const format = useFormat();
  const { projectOrigin: own, quality } = event;
  const inCatalogue = event.sources.includes('CATALOGUE');
  const inProject = event.sources.includes('PROJECT');
  // What both have is the catalogue's in the merged event, and the project's magnitude costs a request of its own.
  const asked = useQuery(
    ProjectMagnitudesDocument,
    inProject && inCatalogue ? { id: event.id } : null,
    round,
  );
  const ownMagnitude = inCatalogue
    ? magnitudeOf(asked.data?.event?.solutions?.magnitudes ?? [], own?.originId ?? null)
    : event.magnitude;
  const reasonOfMagnitude = inCatalogue && asked.isLoading ? texts.loading : texts.noOwnMagnitude;
  const ofCatalogue = (value: string | null): Cell =>
    inCatalogue ? (value ?? { reason: texts.notByCatalogue }) : { reason: texts.notInCatalogue };
  const ofProject = (value: string | null, reason = texts.notByProject): Cell =>
    inProject ? (value ?? { reason }) : { reason: texts.notInProject };
  const known = (value: number | null | undefined, digits: number, unit = '') =>
    value === null || value === undefined ? null : format.number(value, digits, unit);
  const within = (value: string | null, uncertainty: string | null) =>
    value === null || uncertainty === null ? value : `${value} ± ${uncertainty}`;
  const rows: readonly (readonly [string, Cell, Cell])[] = [
    [
      `${texts.originTime} (${texts.utc})`,
      ofCatalogue(format.precise(event.originTime)),
      ofProject(own && format.precise(own.originTime)),
    ],
    [
      texts.position,
      ofCatalogue(
        within(
          format.place(event.latitude, event.longitude, 4),
          known(event.horizontalUncertaintyKm, 1, 'km'),
        ),
      ),
      ofProject(own && format.place(own.latitude, own.longitude, 4)),
    ],
    [
      texts.depthName,
      ofCatalogue(within(known(event.depthKm, 1, 'km'), known(event.depthUncertaintyKm, 1, 'km'))),
      ofProject(known(own?.depthKm, 1, 'km')),
    ],
    [
      texts.magnitude,
      ofCatalogue(
        within(
          event.magnitude === null
            ? null
            : `${format.number(event.magnitude, 2)} ${event.magnitudeType ?? ''}`.trim(),
          known(event.magnitudeUncertainty, 2),
        ),
      ),
      ofProject(known(ownMagnitude, 2), reasonOfMagnitude),
    ],
    [
      texts.stationsUsed,
      ofCatalogue(known(quality?.stationsUsed, 0)),
      ofProject(known(event.stationCount, 0)),
    ],
    [texts.gap, ofCatalogue(known(quality?.azimuthalGapDeg, 0, '°')), ofProject(null)],
    [texts.rms, ofCatalogue(known(quality?.rmsResidualS, 2, 's')), ofProject(null)],
    [texts.status, ofCatalogue(event.status), ofProject(null)],
    [
      `${texts.issuedAt} (${texts.utc})`,
      ofCatalogue(null),
      ofProject(event.issuedAt && format.precise(event.issuedAt)),
    ],
  ];
  return (
    <section className="section" aria-labelledby="solution-title">
      <h2 id="solution-title">{texts.solution}</h2>
      <Scroll label={texts.solution} className="wraps">
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.value}</th>
              <th scope="col">{texts.source.CATALOGUE}</th>
              <th scope="col">{texts.source.PROJECT}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, catalogue, project]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <ValueCell cell={catalogue} />
                <ValueCell cell={project} />
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function ValueCell({ cell }: { readonly cell: Cell }) {
  if (typeof cell === 'string') return <td>{cell}</td>;
  return (
    <td className="missing" title={cell.reason}>
      – <span className="reason">{cell.reason}</span>
    </td>
  );
}

/**
 * The service does not document the layout of its magnitudes: one is taken where an element has a number and belongs to the
 * solution that is shown.
 */
function magnitudeOf(elements: readonly unknown[], originId: string | null): number | null {
  for (const element of elements.toReversed()) {
    const { origin_id, value } = (element ?? {}) as { origin_id?: unknown; value?: unknown };
    if (typeof value === 'number' && originId !== null && String(origin_id) === originId) return value;
  }
  return null;
}

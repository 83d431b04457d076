import { useMemo } from 'react';
import { DistancePlot } from '../charts/distance-plot.js';
import { useConfigured } from '../data/use-configured.js';
import { useNow, useQuery } from '../data/use-world.js';
import { IntensityChip } from '../live/intensity-chip.js';
import { RecordingsDocument, type RecordingsQuery } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { Scroll } from '../shell/scroll.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { RecordSection } from './record-section.js';
import type { SectionStation } from './section-stations.js';
import type { Earthquake } from './solution-table.js';

type Recording = NonNullable<NonNullable<RecordingsQuery['event']>['recordings']>[number];

interface RecordingsProps {
  readonly event: Earthquake;
  readonly round: number;
}

const againMs = 15_000;
const youngMs = 300_000;

/** Recordings of an earthquake by distance: their peaks as a plot and as a table, and their waveforms. */
export function Recordings({ event, round }: RecordingsProps) {
  const texts = useTexts();
  const hasProject = useConfigured('PROJECT');
  const variables = hasProject ? { id: event.id } : null;
  // While the waves are on their way there are further recordings each time.
  const now = useNow(againMs);
  const again = now - Date.parse(event.originTime) < youngMs ? now : 0;
  const { data, error, isLoading } = useQuery(RecordingsDocument, variables, round + again);
  const recordings = data?.event?.recordings ?? [];
  const points = recordings.flatMap(({ distanceKm, trigger }) => {
    const { pgaHorizontal: pgaMg, estimatedIntensity, stationCode } = trigger;
    if (!distanceKm || !pgaMg) return [];
    const color = estimatedIntensity?.color ?? '#FFFFFF';
    return { key: trigger.id, name: stationCode ?? texts.unknownStation, distanceKm, pgaMg, color };
  });
  const stations = useMemo(
    () => (recordings.length > 0 ? stationsOf(recordings) : stationsOfArrivals(event.arrivals)),
    [recordings, event.arrivals],
  );
  return (
    <>
      <section className="section" aria-labelledby="recordings-title">
        <h2 id="recordings-title">{texts.recordings}</h2>
        {error && <Problem faults={[error]} isRepeated={false} />}
        {recordings.length > 0 && <p className="muted">{texts.recordingsNote}</p>}
        {recordings.length === 0 && !error && (
          <p className="muted">
            {!hasProject ? texts.noProject : isLoading ? texts.loading : texts.noRecordings}
          </p>
        )}
        <div className="two">
          {points.length > 0 && <DistancePlot points={points} />}
          {recordings.length > 0 && <RecordingsTable recordings={recordings} />}
        </div>
      </section>
      {!(hasProject && isLoading && !data) && (
        <RecordSection
          originTime={event.originTime}
          stations={stations}
          isMasked={recordings.some(({ sensor }) => sensor?.location?.masked)}
        />
      )}
    </>
  );
}

function RecordingsTable({ recordings }: { readonly recordings: readonly Recording[] }) {
  const texts = useTexts();
  const format = useFormat();
  return (
    <Scroll label={texts.recordings} className="tall">
      <table>
        <thead>
          <tr>
            <th scope="col">{texts.intensity}</th>
            <th scope="col">{texts.station}</th>
            <th scope="col" className="number">
              {texts.distance}
            </th>
            <th scope="col" className="number">
              {texts.pga}
            </th>
            <th scope="col">{texts.explains}</th>
          </tr>
        </thead>
        <tbody>
          {recordings.map(({ trigger, sensor, distanceKm }) => (
            <tr key={trigger.id}>
              <td>
                <IntensityChip intensity={trigger.estimatedIntensity} />
              </td>
              <th scope="row">
                {sensor ? (
                  <a href={hrefOf('sensors', sensor.id)}>{trigger.stationCode ?? texts.unknownStation}</a>
                ) : (
                  (trigger.stationCode ?? texts.unknownStation)
                )}
              </th>
              <td className="number">
                {distanceKm === null && sensor?.location?.masked
                  ? texts.distanceMasked
                  : format.number(distanceKm, 1, 'km')}
              </td>
              <td className="number">{format.number(trigger.pgaHorizontal, 2, 'mg')}</td>
              <td>
                <Time at={trigger.startTime} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function stationsOf(recordings: readonly Recording[]): readonly SectionStation[] {
  return recordings.flatMap(({ sensor, trigger, distanceKm, pArrival, sArrival }) => {
    if (!sensor?.catalogueId || distanceKm === null) return [];
    return { id: sensor.id, name: trigger.stationCode ?? '', distanceKm, pArrival, sArrival };
  });
}

/** Where no trigger is known, as with the catalogue alone: the stations by which it located the earthquake. */
function stationsOfArrivals(arrivals: Earthquake['arrivals']): readonly SectionStation[] {
  return (arrivals ?? []).flatMap(({ sensor, stationCode, distanceKm, pArrival, sArrival }) => {
    if (!sensor?.catalogueId || distanceKm === null) return [];
    return { id: sensor.id, name: stationCode, distanceKm, pArrival, sArrival };
  });
}

import { DistancePlot } from '../charts/distance-plot.js';
import { useQuery } from '../data/use-world.js';
import { IntensityChip } from '../live/intensity-chip.js';
import { RecordingsDocument } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

/** Recordings of an earthquake by distance, as a plot and as a table. */
export function Recordings({ id, round }: { readonly id: string; readonly round: number }) {
  const texts = useTexts();
  const format = useFormat();
  const { data, error, isLoading } = useQuery(RecordingsDocument, { id }, round);
  const recordings = data?.event?.recordings ?? [];
  const points = recordings.flatMap(({ distanceKm, trigger }) => {
    const { pgaHorizontal: pgaMg, estimatedIntensity, stationCode } = trigger;
    if (!distanceKm || !pgaMg) return [];
    const color = estimatedIntensity?.color ?? '#FFFFFF';
    return { key: trigger.id, name: stationCode ?? texts.unknownStation, distanceKm, pgaMg, color };
  });
  return (
    <section className="section" aria-labelledby="recordings-title">
      <h2 id="recordings-title">{texts.recordings}</h2>
      {error && <Problem text={`${error.code}: ${error.message}`} isRepeated={false} />}
      {recordings.length === 0 ? (
        <p className="muted">{isLoading ? texts.loading : error ? '' : texts.noRecordings}</p>
      ) : (
        <p className="muted">{texts.recordingsNote}</p>
      )}
      <div className="two">
        {points.length > 0 && <DistancePlot points={points} />}
        {recordings.length > 0 && (
          <div className="scroll">
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
                  <th scope="col">{texts.triggers}</th>
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
                        <a href={hrefOf('sensors', sensor.id)}>{trigger.stationCode}</a>
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
          </div>
        )}
      </div>
    </section>
  );
}

import { useQuery } from '../data/use-world.js';
import { IntensityChip } from '../live/intensity-chip.js';
import { SensorTriggersDocument } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { WaveformOfTrigger } from './waveform.js';

interface SensorTriggersProps {
  readonly id: string;
  readonly hasWaveform: boolean;
  readonly parameters: URLSearchParams;
}

/** The latest triggers of a station, and the waveform of the one that the address names. */
export function SensorTriggers({ id, hasWaveform, parameters }: SensorTriggersProps) {
  const texts = useTexts();
  const format = useFormat();
  const { data, error, isLoading } = useQuery(SensorTriggersDocument, { id });
  const triggers = data?.sensor?.triggers?.nodes ?? [];
  const chosen =
    triggers.find((trigger) => trigger.id === parameters.get('trigger')) ??
    triggers.find(({ endTime }) => endTime !== null);
  return (
    <>
      <section className="section" aria-labelledby="waveform-title">
        <h2 id="waveform-title">{texts.waveform}</h2>
        {!hasWaveform && <p className="muted">{texts.noWaveform}</p>}
        {hasWaveform && chosen && <WaveformOfTrigger id={id} trigger={chosen} />}
        {hasWaveform && !chosen && <p className="muted">{isLoading ? texts.loading : texts.nothing}</p>}
      </section>
      <section className="section scroll" aria-labelledby="its-triggers-title">
        <h2 id="its-triggers-title">{texts.itsTriggers}</h2>
        {error && <Problem text={`${error.code}: ${error.message}`} isRepeated={false} />}
        {triggers.length === 0 && <p className="muted">{isLoading ? texts.loading : texts.nothing}</p>}
        {triggers.length > 0 && (
          <table>
            <tbody>
              {triggers.map((trigger) => (
                <tr key={trigger.id} aria-current={trigger === chosen ? 'true' : undefined}>
                  <td>
                    <IntensityChip intensity={trigger.estimatedIntensity} />
                  </td>
                  <th scope="row">
                    <a href={hrefOf('sensors', id, { trigger: trigger.id })}>
                      <Time at={trigger.startTime} />
                    </a>
                  </th>
                  <td>{trigger.status === 'OPEN' ? texts.open : format.number(trigger.durationS, 0, 's')}</td>
                  <td className="number">{format.number(trigger.pgaHorizontal, 2, 'mg')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </>
  );
}

import { useConfigured } from '../data/use-configured.js';
import { useQuery } from '../data/use-world.js';
import { IntensityChip } from '../live/intensity-chip.js';
import { SensorTriggersDocument, type TriggerOfListFragment } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { Scroll } from '../shell/scroll.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { Waveform } from './waveform.js';
import { type TimeWindow, WindowForm, windowIn, windowOf } from './window-form.js';

interface SensorTriggersProps {
  readonly id: string;
  readonly isOfProject: boolean;
  readonly hasWaveform: boolean;
  readonly parameters: URLSearchParams;
}

/** The latest triggers of a station, and the waveform of the one, or of the time, that the address names. */
export function SensorTriggers({ id, isOfProject, hasWaveform, parameters }: SensorTriggersProps) {
  const texts = useTexts();
  const hasCatalogue = useConfigured('CATALOGUE');
  const { data, error, isLoading } = useQuery(SensorTriggersDocument, isOfProject ? { id } : null);
  const triggers = data?.sensor?.triggers?.nodes ?? [];
  const named = windowIn(parameters);
  const chosen = named
    ? undefined
    : (triggers.find((trigger) => trigger.id === parameters.get('trigger')) ??
      triggers.find(({ endTime }) => endTime !== null));
  const window: TimeWindow | null = named ?? (chosen ? windowOf(chosen) : null);
  return (
    <>
      <section className="section" aria-labelledby="waveform-title">
        <h2 id="waveform-title">{texts.waveform}</h2>
        {!hasWaveform && <p className="muted">{hasCatalogue ? texts.noWaveform : texts.noCatalogue}</p>}
        {hasWaveform && (
          <>
            <WindowForm window={window} />
            {chosen && (
              <p className="muted">
                {texts.ofTrigger} <Time at={chosen.startTime} isPrecise />
              </p>
            )}
            {window && <Waveform id={id} {...window} parameters={parameters} />}
          </>
        )}
      </section>
      {isOfProject && (
        <section className="section" aria-labelledby="its-triggers-title">
          <h2 id="its-triggers-title">{texts.itsTriggers}</h2>
          {error && <Problem faults={[error]} isRepeated={false} />}
          {triggers.length === 0 && !error && (
            <p className="muted">{isLoading ? texts.loading : texts.noItsTriggers}</p>
          )}
          {triggers.length > 0 && <TriggersTable id={id} triggers={triggers} chosen={chosen} />}
        </section>
      )}
    </>
  );
}

interface TriggersTableProps {
  readonly id: string;
  readonly triggers: readonly TriggerOfListFragment[];
  readonly chosen: TriggerOfListFragment | undefined;
}

function TriggersTable({ id, triggers, chosen }: TriggersTableProps) {
  const texts = useTexts();
  const format = useFormat();
  return (
    <Scroll label={texts.itsTriggers} className="tall">
      <table>
        <thead>
          <tr>
            <th scope="col">{texts.intensity}</th>
            <th scope="col">{texts.start}</th>
            <th scope="col">{texts.duration}</th>
            <th scope="col" className="number">
              {texts.pga}
            </th>
          </tr>
        </thead>
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
    </Scroll>
  );
}

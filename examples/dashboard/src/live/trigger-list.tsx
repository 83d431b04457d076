import { useConfigured } from '../data/use-configured.js';
import { useNow, useWorld } from '../data/use-world.js';
import type { TriggerItem } from '../data/world.js';
import { useAsOf } from '../shell/as-of.js';
import { Problem } from '../shell/problem.js';
import { hrefOf } from '../shell/route.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { IntensityChip } from './intensity-chip.js';

/** The latest triggers. They change in their place as the feed reports them; one trigger is one row. */
export function TriggerList() {
  const texts = useTexts();
  const { triggers, problems, answeredAtMs } = useWorld();
  const now = useNow(1_000);
  const asOf = useAsOf();
  const hasProject = useConfigured('PROJECT');
  return (
    <section className="panel" aria-labelledby="triggers-title">
      <h2 id="triggers-title">{texts.triggers}</h2>
      {!hasProject && <p className="muted">{texts.noProject}</p>}
      {hasProject && problems.triggers && <Problem faults={problems.triggers} />}
      {hasProject && triggers.length === 0 && (
        <p className="muted">{answeredAtMs ? texts.noTriggers : texts.loading}</p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the focus of the keyboard */}
      <ol className="rows triggers" tabIndex={0} aria-labelledby="triggers-title">
        {triggers.map((trigger) => (
          <TriggerRow key={trigger.id} trigger={trigger} now={now} asOf={asOf} />
        ))}
      </ol>
    </section>
  );
}

interface TriggerRowProps {
  readonly trigger: TriggerItem;
  readonly now: number;
  /** Of when the list is, where it is old: a trigger that was open then may have ended. */
  readonly asOf: string | null;
}

function TriggerRow({ trigger, now, asOf }: TriggerRowProps) {
  const texts = useTexts();
  const format = useFormat();
  const { sensor, stationCode, status, estimatedIntensity, pgaHorizontal, startTime, durationS } = trigger;
  const name = stationCode ?? texts.unknownStation;
  const isOpen = status === 'OPEN';
  return (
    <li data-trigger={trigger.id} data-status={status}>
      <IntensityChip intensity={estimatedIntensity} />
      <span className="row-text">
        <span>
          {sensor ? <a href={hrefOf('sensors', sensor.id)}>{name}</a> : name}{' '}
          {estimatedIntensity && (texts.shaking[estimatedIntensity.shaking] ?? estimatedIntensity.shaking)}
        </span>
        <span className="muted">
          <Time at={startTime} /> ·{' '}
          {pgaHorizontal === null
            ? texts.noPeak
            : format.number(pgaHorizontal, pgaHorizontal < 10 ? 2 : 0, 'mg')}
        </span>
      </span>
      <span className={`state ${isOpen && !asOf ? 'open' : ''}`}>
        {isOpen && asOf && texts.openAsOf(asOf)}
        {isOpen && !asOf && (
          <>
            <i aria-hidden="true" />
            {trigger.isGrowing ? `${texts.growing} ▲` : texts.open}
          </>
        )}
        {!isOpen && `${texts.closed} · ${format.number(durationS, 0, 's')}`}
        <span className="age">{texts.ago(format.ageOf(startTime, now))}</span>
      </span>
    </li>
  );
}

import { useMemo, useState } from 'react';
import { EnvelopePlot } from '../charts/envelope-plot.js';
import { useQuery } from '../data/use-world.js';
import { type Channel, type TriggerOfListFragment, WaveformDocument } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';

const channels: readonly Channel[] = ['HNZ', 'HNN', 'HNE'];
const beforeMs = 10_000;
const afterMs = 20_000;
const longestMs = 180_000;

interface WaveformProps {
  readonly id: string;
  readonly trigger: TriggerOfListFragment;
}

/** The ground motion around a trigger. */
export function WaveformOfTrigger({ id, trigger: { startTime, endTime } }: WaveformProps) {
  const texts = useTexts();
  const format = useFormat();
  const [channel, setChannel] = useState<Channel>('HNZ');
  const variables = useMemo(() => {
    const start = Date.parse(startTime) - beforeMs;
    const end = Math.min(start + longestMs, Date.parse(endTime ?? startTime) + afterMs);
    return { id, channel, start: new Date(start).toISOString(), end: new Date(end).toISOString() };
  }, [id, channel, startTime, endTime]);
  const { data, error, isLoading } = useQuery(WaveformDocument, variables);
  const waveform = data?.sensor?.waveform;
  return (
    <>
      <div className="controls">
        <fieldset className="choices" aria-label={texts.channel}>
          {channels.map((one) => (
            <button key={one} type="button" aria-pressed={one === channel} onClick={() => setChannel(one)}>
              {one}
            </button>
          ))}
        </fieldset>
        <span className="muted">
          {texts.ofTrigger} <Time at={startTime} />
        </span>
      </div>
      {error && <Problem text={`${error.code}: ${error.message}`} isRepeated={false} />}
      {!waveform && isLoading && <p className="muted">{texts.loading}</p>}
      {waveform && (
        <>
          <EnvelopePlot
            label={`${texts.waveform} ${channel} ${format.utc(waveform.startTime)} ${texts.utc}`}
            min={waveform.envelope.min}
            max={waveform.envelope.max}
          />
          <p className="axis-ends muted">
            <Time at={waveform.startTime} />
            <span>{format.number(waveform.sampleRateHz, 0, 'Hz')}</span>
            <Time at={waveform.endTime} />
          </p>
          {/* The path is of the gateway, which may lie under a prefix: the page is one folder below it. */}
          <a href={`..${waveform.miniseedPath}`} download>
            {texts.miniseed}
          </a>
        </>
      )}
    </>
  );
}

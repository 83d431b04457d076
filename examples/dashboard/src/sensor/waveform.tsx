import { useMemo } from 'react';
import { EnvelopePlot } from '../charts/envelope-plot.js';
import { useQuery } from '../data/use-world.js';
import { type Channel, WaveformDocument, WaveformSamplesDocument } from '../operations/operations.js';
import { Problem } from '../shell/problem.js';
import { addressWith } from '../shell/route.js';
import { Time } from '../shell/time.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { ChannelChoice, channels } from './channel-choice.js';
import { SamplesTable } from './samples-table.js';
import { closer, isWhole, type Span, shifted, whole } from './span.js';
import { samplesIn } from './trace.js';
import { useSpan } from './use-span.js';

interface WaveformProps {
  readonly id: string;
  readonly start: string;
  readonly end: string;
  readonly parameters: URLSearchParams;
}

const go = (changes: Readonly<Record<string, string | null>>) => {
  globalThis.location.hash = addressWith(changes);
};

/** The ground motion in a window of time: an overview, and its single samples where the reader looks closer. */
export function Waveform({ id, start, end, parameters }: WaveformProps) {
  const texts = useTexts();
  const format = useFormat();
  const channel: Channel = channels.find((one) => one === parameters.get('channel')) ?? 'HNZ';
  const variables = useMemo(() => ({ id, channel, start, end }), [id, channel, start, end]);
  const overview = useQuery(WaveformDocument, variables);
  const waveform = overview.data?.sensor?.waveform;
  const [span, setSpan] = useSpan(`${start} ${end}`);
  // The samples are of the response that the overview is made of: the service is not asked again.
  const close = useQuery(WaveformSamplesDocument, isWhole(span) ? null : variables);
  const samples = close.data?.sensor?.waveform;
  const error = overview.error ?? (isWhole(span) ? null : close.error);
  const startMs = Date.parse(waveform?.startTime ?? start);
  const lengthMs = waveform ? Math.max(1, waveform.sampleCount) * (1_000 / waveform.sampleRateHz) : 1;
  const at = (part: number) => new Date(startMs + part * lengthMs).toISOString();
  const trace = useMemo(() => {
    if (!waveform) return null;
    if (isWhole(span) || !samples) {
      const { min, max } = waveform.envelope;
      return { min, max, points: null, first: 0, span };
    }
    return samplesIn(samples.samples, span);
  }, [waveform, samples, span]);
  const move = (change: (span: Span) => Span) => setSpan(change(span));
  return (
    <>
      <div className="controls">
        <ChannelChoice channel={channel} onChoose={(one) => go({ channel: one })} />
        <span className="choices">
          <button type="button" onClick={() => move((now) => closer(now, 0.5))} aria-label={texts.zoomIn}>
            +
          </button>
          <button
            type="button"
            disabled={isWhole(span)}
            onClick={() => move((now) => closer(now, 2))}
            aria-label={texts.zoomOut}
          >
            −
          </button>
          <button
            type="button"
            disabled={span.from <= 0}
            onClick={() => move((now) => shifted(now, -0.5))}
            aria-label={texts.earlier}
          >
            ←
          </button>
          <button
            type="button"
            disabled={span.to >= 1}
            onClick={() => move((now) => shifted(now, 0.5))}
            aria-label={texts.later}
          >
            →
          </button>
          <button type="button" disabled={isWhole(span)} onClick={() => setSpan(whole)}>
            {texts.whole}
          </button>
        </span>
      </div>
      {error && <Problem faults={[error]} isRepeated={false} />}
      {!waveform && <p className="muted">{overview.isLoading ? texts.loading : texts.noSamples}</p>}
      {waveform && trace && (
        <>
          <EnvelopePlot
            label={`${texts.waveform} ${channel}`}
            describe={(least, most) =>
              texts.waveformSummary(
                format.precise(at(trace.span.from)),
                format.precise(at(trace.span.to)),
                format.number(least),
                format.number(most),
              )
            }
            min={trace.min}
            max={trace.max}
            points={trace.points}
            onSpan={(from, to) => setSpan(within(trace.span, from, to))}
            onMove={move}
          />
          <p className="axis-ends muted">
            <Time at={at(trace.span.from)} isPrecise />
            <span>{format.number(waveform.sampleRateHz, 0, 'Hz')}</span>
            <Time at={at(trace.span.to)} isPrecise />
          </p>
          <p className="muted">{texts.zoomHint}</p>
          {trace.points && (
            <SamplesTable
              samples={trace.points}
              timeOf={(i) =>
                new Date(startMs + ((trace.first + i) * 1_000) / waveform.sampleRateHz).toISOString()
              }
            />
          )}
          {/* The path is of the gateway, which may lie under a prefix: the page is one folder below it. */}
          <a href={`..${waveform.miniseedPath}`} download>
            {texts.miniseed}
          </a>
        </>
      )}
    </>
  );
}

/** The part of a span that was dragged over. */
function within({ from, to }: Span, first: number, last: number): Span {
  const length = to - from;
  return { from: from + first * length, to: from + last * length };
}

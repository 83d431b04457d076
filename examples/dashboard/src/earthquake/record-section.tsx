import { useMemo, useState } from 'react';
import { SectionPlot, type SectionTrace } from '../charts/section-plot.js';
import { useNow } from '../data/use-world.js';
import type { Channel } from '../operations/operations.js';
import { ChannelChoice } from '../sensor/channel-choice.js';
import { hrefOf } from '../shell/route.js';
import { Scroll } from '../shell/scroll.js';
import { useFormat } from '../texts/format.js';
import { useTexts } from '../texts/texts.js';
import { type SectionStation, sectionStations, sectionWindow } from './section-stations.js';
import { readableAtMs, type Trace, useWaveforms } from './use-waveforms.js';

interface RecordSectionProps {
  readonly originTime: string;
  /** Stations with a distance and a waveform in the catalogue. */
  readonly stations: readonly SectionStation[];
  readonly isMasked: boolean;
}

/** Waveforms of an earthquake by distance, with the arrivals of its waves. */
export function RecordSection({ originTime, stations, isMasked }: RecordSectionProps) {
  const texts = useTexts();
  const [channel, setChannel] = useState<Channel>('HNZ');
  const chosen = useMemo(() => sectionStations(stations), [stations]);
  const window = useMemo(() => sectionWindow(originTime, chosen), [originTime, chosen]);
  const isTooEarly = useNow(1_000) < (window ? readableAtMs(window) : 0);
  const read = useWaveforms(
    chosen.map(({ id }) => id),
    channel,
    window,
  );
  return (
    <section className="section" aria-labelledby="section-title">
      <h2 id="section-title">{texts.section}</h2>
      {!window && <p className="muted">{isMasked ? texts.sectionMasked : texts.sectionEmpty}</p>}
      {window && (
        <>
          <div className="controls">
            <ChannelChoice channel={channel} onChoose={setChannel} />
            <span role="status">
              {isTooEarly ? texts.sectionTooEarly : texts.sectionRead(read.size, chosen.length)}{' '}
              {!isTooEarly && read.size < chosen.length && texts.sectionWaits}
            </span>
          </div>
          <Traces originTime={originTime} window={window} stations={chosen} read={read} channel={channel} />
          <p className="muted">{texts.sectionNote(channel)}</p>
        </>
      )}
    </section>
  );
}

interface TracesProps {
  readonly originTime: string;
  readonly window: { readonly start: string; readonly end: string };
  readonly stations: readonly SectionStation[];
  readonly read: ReadonlyMap<string, Trace>;
  readonly channel: Channel;
}

function Traces({ originTime, window, stations, read, channel }: TracesProps) {
  const texts = useTexts();
  const format = useFormat();
  const originMs = Date.parse(originTime);
  const sinceOrigin = (time: string) => (Date.parse(time) - originMs) / 1_000;
  const traces = stations.map((station): SectionTrace => {
    const trace = read.get(station.id);
    return {
      ...station,
      pS: station.pArrival ? sinceOrigin(station.pArrival) : null,
      sS: station.sArrival ? sinceOrigin(station.sArrival) : null,
      waveform: typeof trace === 'object' ? trace : null,
    };
  });
  const stateOf = ({ id, waveform }: SectionTrace): string => {
    const trace = read.get(id);
    if (trace === undefined) return texts.waiting;
    return typeof trace === 'string' ? trace : (peakOf(waveform, format.number) ?? texts.noSamples);
  };
  return (
    <div className="two wide-first">
      <SectionPlot
        label={`${texts.section}, ${channel}. ${texts.plotNote(traces.length)}`}
        originMs={originMs}
        fromS={sinceOrigin(window.start)}
        toS={sinceOrigin(window.end)}
        traces={traces}
      />
      <Scroll label={texts.section}>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.station}</th>
              <th scope="col" className="number">
                {texts.distance}
              </th>
              <th scope="col" className="number">
                {texts.pWave} (s)
              </th>
              <th scope="col" className="number">
                {texts.sWave} (s)
              </th>
              <th scope="col" className="number">
                {texts.peakCounts}
              </th>
            </tr>
          </thead>
          <tbody>
            {traces.map((trace) => (
              <tr key={trace.id}>
                <th scope="row">
                  <a href={hrefOf('sensors', trace.id)}>{trace.name}</a>
                </th>
                <td className="number">{format.number(trace.distanceKm, 1, 'km')}</td>
                <td className="number">{format.number(trace.pS, 2)}</td>
                <td className="number">{format.number(trace.sS, 2)}</td>
                <td className="number">{stateOf(trace)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  );
}

/** Null without a sample. */
function peakOf(waveform: SectionTrace['waveform'], shown: (value: number) => string): string | null {
  const { min, max } = waveform?.envelope ?? { min: [], max: [] };
  const values = [...min, ...max].filter((value) => value !== null);
  if (values.length === 0) return null;
  return shown(values.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one)));
}

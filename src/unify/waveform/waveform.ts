import { BadUserInput, notConfigured, UpstreamUnavailable } from '../../errors.js';
import type { Maybe } from '../../maybe.js';
import type { CatalogueSensorId } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { Instant } from '../time/instant.js';

export type Channel = 'HNZ' | 'HNE' | 'HNN';

export interface WaveformWindow {
  readonly channel: Channel;
  readonly start: Instant;
  readonly end: Instant;
}

/** Samples of one channel, from the catalogue (docs/interfaces.md C2, Sensor data). */
export interface Waveform {
  readonly channel: Channel;
  /** Time of the first sample according to upstream; it may differ from the requested start. */
  readonly startTime: Instant;
  readonly endTime: Instant;
  readonly sampleRateHz: number;
  /**
   * As upstream sent them. The array is shared with the cache and must not be modified. NaN where upstream has a gap.
   */
  readonly samples: readonly number[];
  /** Path on this gateway that streams the same window as miniSEED. */
  readonly miniseedPath: string;
}

/**
 * Null where the catalogue does not have the sensor. One request.
 * @throws BadUserInput when `start` is not before `end`; NotConfigured without a catalogue.
 */
export async function readWaveform(
  ctx: UnifyContext,
  sensor: { catalogueId(): Maybe<CatalogueSensorId | null> },
  { channel, start, end }: WaveformWindow,
): Promise<Waveform | null> {
  if (start.compare(end) >= 0) {
    throw new BadUserInput('`start` must be before `end`', { argument: 'start' });
  }
  if (!ctx.catalogue) throw notConfigured('CATALOGUE');
  const catalogueId = await sensor.catalogueId();
  if (catalogueId === null) return null;
  const window = { channel, start: start.toString(), end: end.toString() };
  const read = await ctx.catalogue.waveform(catalogueId, window, ctx.scope);
  if (!read) return null;
  const { start_time, end_time, sample_rate, samples } = read.value;
  const [startTime, endTime] = [Instant.parse(start_time), Instant.parse(end_time)];
  if (!startTime || !endTime) {
    throw new UpstreamUnavailable('The catalogue sent a waveform whose start or end is not a time');
  }
  return {
    channel,
    startTime,
    endTime,
    sampleRateHz: sample_rate,
    samples,
    miniseedPath:
      `/waveforms/${encodeURIComponent(catalogueId)}/${channel}.mseed` +
      `?start=${encodeURIComponent(window.start)}&end=${encodeURIComponent(window.end)}`,
  };
}

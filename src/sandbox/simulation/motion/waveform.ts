/** Ground motion of one component: sample `index` is the one at `index / rateHz` seconds since 1970. */
export interface WaveformSource {
  /** Samples per second. */
  readonly rateHz: number;
  /** Counts, as whole numbers; undefined for a sensor that records nothing. */
  samples(sensorId: string, channel: string, firstIndex: number, count: number): Int32Array | undefined;
}

/** Sensors that never feel anything. */
export const silence: WaveformSource = {
  rateHz: 100,
  samples: (_sensorId, _channel, _firstIndex, count) => new Int32Array(count),
};

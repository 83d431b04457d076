import { z } from 'zod';
import { limits } from '../../limits.js';
import { envelopeOf, type WaveformEnvelope } from '../../unify/waveform/envelope.js';
import { readWaveform, type Waveform } from '../../unify/waveform/waveform.js';
import { builder } from '../builder.js';
import { cost } from '../limits/cost.js';
import { SensorRef } from '../refs.js';

const pointsByDefault = 1_000;
const pointsRule = `must be a whole number from 1 to ${limits.envelopePoints}`;

const ChannelEnum = builder.enumType('Channel', {
  description: 'SEED channel code of an accelerometer component.',
  values: {
    HNZ: { description: 'Vertical component of the accelerometer.' },
    HNE: { description: 'East component of the accelerometer.' },
    HNN: { description: 'North component of the accelerometer.' },
  } as const,
});

const WaveformEnvelopeRef = builder.objectRef<WaveformEnvelope>('WaveformEnvelope').implement({
  description:
    'Smallest and largest sample of each of a number of equal spans of a waveform, for drawing it with ' +
    'one pixel for each span.',
  fields: (t) => ({
    points: t.exposeInt('points', {
      nullable: false,
      description: 'Number of spans: the one asked for, or the number of samples where that is smaller.',
    }),
    secondsPerPoint: t.exposeFloat('secondsPerPoint', {
      nullable: false,
      description: 'Length of one span in seconds; 0 when there are no samples.',
    }),
    min: t.expose('min', {
      type: 'Samples',
      nullable: false,
      description:
        'Smallest sample of each span, in the unit of `Waveform.samples`; null in the place of a span ' +
        'that is a gap.',
    }),
    max: t.expose('max', {
      type: 'Samples',
      nullable: false,
      description:
        'Largest sample of each span, in the unit of `Waveform.samples`; null in the place of a span ' +
        'that is a gap.',
    }),
  }),
});

const WaveformRef = builder.objectRef<Waveform>('Waveform').implement({
  description: 'Samples of one channel of a sensor over a window of time, from the catalogue.',
  fields: (t) => ({
    channel: t.expose('channel', {
      type: ChannelEnum,
      nullable: false,
      description: 'Channel of the samples.',
    }),
    startTime: t.expose('startTime', {
      type: 'DateTime',
      nullable: false,
      description:
        'Time of the first sample, as the catalogue says; it can differ from the start of the window ' +
        'asked for.',
    }),
    endTime: t.expose('endTime', {
      type: 'DateTime',
      nullable: false,
      description: 'End of the samples, as the catalogue says.',
    }),
    sampleRateHz: t.exposeFloat('sampleRateHz', {
      nullable: false,
      description: 'Sample rate in hertz (samples per second).',
    }),
    sampleCount: t.int({
      nullable: false,
      description: 'Number of samples, gaps included.',
      resolve: ({ samples }) => samples.length,
    }),
    samples: t.expose('samples', {
      type: 'Samples',
      nullable: false,
      description:
        'All samples, in the unit in which the catalogue gives them, which it does not state; null in ' +
        'the place of a gap. Neighbouring samples are 1 / `sampleRateHz` seconds apart.',
    }),
    envelope: t.field({
      type: WaveformEnvelopeRef,
      nullable: false,
      description:
        'Smallest and largest sample of each of `points` equal spans, for drawing the waveform. Every ' +
        'peak is among them.',
      args: {
        points: t.arg.int({
          required: true,
          defaultValue: pointsByDefault,
          validate: z.int().min(1, pointsRule).max(limits.envelopePoints, pointsRule),
          description:
            `Number of spans, from 1 to ${limits.envelopePoints}; the default is ${pointsByDefault}. Error: BAD_USER_INPUT ` +
            'outside that range.',
        }),
      },
      resolve: (waveform, { points }) => envelopeOf(waveform, points),
    }),
    miniseedPath: t.exposeString('miniseedPath', {
      nullable: false,
      description:
        'Path at this gateway, relative to its address, from which the same window is streamed as ' +
        'miniSEED: /waveforms/{catalogueId}/{channel}.mseed?start&end.',
    }),
  }),
});

builder.objectFields(SensorRef, (t) => ({
  waveform: t.field({
    type: WaveformRef,
    description:
      'Samples of one channel over a window of time, from the catalogue; null for a sensor that only ' +
      'the project knows. Costs one request to the service for each sensor, whatever is selected of ' +
      'the samples. Errors: BAD_USER_INPUT when `start` is not before `end` or the service rejects the ' +
      'window, NOT_CONFIGURED without the catalogue interface, UPSTREAM_TIMEOUT for a window that is ' +
      'too long for the service.',
    args: {
      channel: t.arg({ type: ChannelEnum, required: true, description: 'Channel to read.' }),
      start: t.arg({ type: 'DateTime', required: true, description: 'Start of the window.' }),
      end: t.arg({
        type: 'DateTime',
        required: true,
        description: 'End of the window, later than its start.',
      }),
    },
    extensions: cost({ requests: (_, parents) => parents }),
    resolve: (sensor, window, { unify }) => readWaveform(unify, sensor, window),
  }),
}));

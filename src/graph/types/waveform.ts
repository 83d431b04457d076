import { z } from 'zod';
import { readWaveform, type Waveform } from '../../unify/waveform.js';
import { envelopeOf, type WaveformEnvelope } from '../../unify/waveform-envelope.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { SensorRef } from '../refs.js';

/** More than any screen is wide. */
const mostPoints = 100_000;
const pointsRule = `must be a whole number from 1 to ${mostPoints}`;

const ChannelEnum = builder.enumType('Channel', {
  description: 'SEED channel of an accelerometer (catalogue §2).',
  values: {
    HNZ: { description: 'Vertical.' },
    HNE: { description: 'East.' },
    HNN: { description: 'North.' },
  } as const,
});

const WaveformEnvelopeRef = builder.objectRef<WaveformEnvelope>('WaveformEnvelope').implement({
  description: 'Minimum and maximum of each of equal spans: what a line of that many pixels shows.',
  fields: (t) => ({
    points: t.exposeInt('points', {
      nullable: false,
      description: 'Spans actually returned: never more than there are samples.',
    }),
    secondsPerPoint: t.exposeFloat('secondsPerPoint', {
      nullable: false,
      description: 'Length of a span in seconds; 0 without samples.',
    }),
    min: t.expose('min', {
      type: 'Samples',
      nullable: false,
      description: 'Smallest sample of each span, in the unit of the samples; null where there is a gap.',
    }),
    max: t.expose('max', {
      type: 'Samples',
      nullable: false,
      description: 'Largest sample of each span, in the unit of the samples; null where there is a gap.',
    }),
  }),
});

const WaveformRef = builder.objectRef<Waveform>('Waveform').implement({
  description: 'Samples of one channel over a window of time (catalogue §2, Sensor data).',
  fields: (t) => ({
    channel: t.expose('channel', {
      type: ChannelEnum,
      nullable: false,
      description: 'The channel asked for.',
    }),
    startTime: t.expose('startTime', {
      type: 'DateTime',
      nullable: false,
      description: 'Time of the first sample, as the catalogue says.',
    }),
    endTime: t.expose('endTime', {
      type: 'DateTime',
      nullable: false,
      description: 'End of the samples, as the catalogue says.',
    }),
    sampleRateHz: t.exposeFloat('sampleRateHz', { nullable: false, description: 'Samples per second.' }),
    sampleCount: t.int({
      nullable: false,
      description: 'How many samples there are.',
      resolve: ({ samples }) => samples.length,
    }),
    samples: t.expose('samples', {
      type: 'Samples',
      nullable: false,
      description: 'Every sample, in the unit in which the catalogue gives them; null where there is a gap.',
    }),
    envelope: t.field({
      type: WaveformEnvelopeRef,
      nullable: false,
      description: 'Minimum and maximum of each of `points` equal spans, for drawing: never hides a peak.',
      args: {
        points: t.arg.int({
          required: true,
          defaultValue: 1000,
          validate: z.int().min(1, pointsRule).max(mostPoints, pointsRule),
          description: `How many spans, 1 to ${mostPoints}.`,
        }),
      },
      resolve: (waveform, { points }) => envelopeOf(waveform, points),
    }),
    miniseedPath: t.exposeString('miniseedPath', {
      nullable: false,
      description:
        'Path on this gateway that streams the same window as miniSEED: ' +
        '/waveforms/{catalogueId}/{channel}.mseed?start&end.',
    }),
  }),
});

builder.objectFields(SensorRef, (t) => ({
  waveform: t.field({
    type: WaveformRef,
    description:
      'Samples of one channel, from the catalogue. Null for a sensor that the catalogue does not have. One upstream ' +
      'request, whatever is selected of it.',
    args: {
      channel: t.arg({ type: ChannelEnum, required: true, description: 'Which channel.' }),
      start: t.arg({ type: 'DateTime', required: true, description: 'Start of the window.' }),
      end: t.arg({ type: 'DateTime', required: true, description: 'End of the window, after its start.' }),
    },
    extensions: cost({ requests: (_, parents) => parents }),
    resolve: (sensor, window, { unify }) => readWaveform(unify, sensor, window),
  }),
}));

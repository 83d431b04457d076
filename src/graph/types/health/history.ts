import { z } from 'zod';
import { limits } from '../../../limits.js';
import {
  type HealthBucket,
  type HealthHistory,
  type HealthHistoryArgs,
  healthHistory,
  signalStrengthIn,
  summaryOf,
  type ValueSummary,
} from '../../../unify/health/history.js';
import type { HealthReport } from '../../../unify/health/report.js';
import type { Num } from '../../../upstream/decode/fields.js';
import { builder } from '../../builder.js';
import { meanShown } from '../../digits.js';
import { cost } from '../../limits/cost.js';
import { SensorRef } from '../../refs.js';
import { UnavailableSourceRef } from '../connection.js';
import { healthRangeArgs, healthRequests } from './report.js';

const bucketsByDefault = 96;
const bucketsMessage = `must be a whole number from 1 to ${limits.healthBuckets}`;

const ValueSummaryRef = builder.objectRef<ValueSummary>('ValueSummary').implement({
  description: 'Smallest, mean and greatest of several reported values, in the unit that the field names.',
  fields: (t) => ({
    min: t.exposeFloat('min', { nullable: false, description: 'Smallest value.' }),
    mean: t.float({
      nullable: false,
      description: 'Arithmetic mean of the values, to six significant digits.',
      resolve: ({ min, mean, max }) => Math.min(max, Math.max(min, meanShown(mean))),
    }),
    max: t.exposeFloat('max', { nullable: false, description: 'Greatest value.' }),
    count: t.exposeInt('count', { nullable: false, description: 'Number of values, 1 or more.' }),
  }),
});

const HealthBucketRef = builder.objectRef<HealthBucket>('HealthBucket').implement({
  description:
    "State-of-health reports of one part of a history's range, summarised. A summary is null where no " +
    'report of the bucket has the value.',
  fields: (t) => {
    const summary = (description: string, read: (report: HealthReport) => Num) =>
      t.field({
        type: ValueSummaryRef,
        description: `${description}; null where no report of the bucket has it.`,
        resolve: (bucket) => summaryOf(bucket, read),
      });
    return {
      from: t.expose('from', {
        type: 'DateTime',
        nullable: false,
        description: 'Start of the bucket, excluded.',
      }),
      to: t.expose('to', { type: 'DateTime', nullable: false, description: 'End of the bucket, included.' }),
      reportCount: t.int({
        nullable: false,
        description: 'Number of reports in the bucket; 0 is a gap.',
        resolve: ({ reports }) => reports.length,
      }),
      batteryVolts: summary('Battery voltage in volts', (report) => report.batteryVolts),
      temperatureC: summary(
        'Temperature inside the sensor in degrees Celsius',
        (report) => report.temperatureC,
      ),
      freeHeapBytes: summary('Free working memory in bytes', (report) => report.freeHeapBytes),
      bufferUsagePct: summary(
        'Used part of the data buffer in percent, from 0 to 100',
        (report) => report.bufferUsagePct,
      ),
      signalStrengthDbm: summary(
        'Strength of the radio signal in decibels relative to one milliwatt, of reports in that unit',
        signalStrengthIn('DBM'),
      ),
      signalStrengthPct: summary(
        'Strength of the radio signal in percent of a full signal, from 0 to 100, of reports in that unit',
        signalStrengthIn('PERCENT'),
      ),
      syncAgeS: summary(
        "Seconds since the last synchronisation of the sensor's clock",
        (report) => report.syncAgeS,
      ),
    };
  },
});

const HealthHistoryRef = builder.objectRef<HealthHistory>('HealthHistory').implement({
  description: 'State-of-health reports of a range of time, summarised in buckets of equal length.',
  fields: (t) => ({
    from: t.expose('from', {
      type: 'DateTime',
      nullable: false,
      description: 'Start of the range, excluded.',
    }),
    to: t.expose('to', { type: 'DateTime', nullable: false, description: 'End of the range, included.' }),
    reportCount: t.exposeInt('reportCount', {
      nullable: false,
      description: 'Number of reports in all buckets together.',
    }),
    buckets: t.field({
      type: [HealthBucketRef],
      nullable: { list: false, items: false },
      description: 'Buckets in the order of time, those without reports included.',
      resolve: ({ buckets }) => [...buckets],
    }),
    unavailableSources: t.field({
      type: [UnavailableSourceRef],
      nullable: { list: false, items: false },
      description:
        'The project interface, where it sent reports that cannot be read, so that buckets can lack ' +
        'them; empty when the history is complete.',
      resolve: ({ unavailableSources }) => [...unavailableSources],
    }),
  }),
});

builder.objectField(SensorRef, 'healthHistory', (t) =>
  t.field({
    type: HealthHistoryRef,
    description:
      'State-of-health reports later than `from` and up to `to`, summarised for charts: the smallest, ' +
      'mean and greatest value of each bucket. The default range, the last 24 hours, costs one request ' +
      'to the service for each sensor, the same as `latestHealthReport`. Null for a sensor that only the ' +
      `catalogue knows. Errors: BAD_USER_INPUT; QUERY_TOO_COMPLEX for a range that ${limits.healthPageRequests} ` +
      'requests cannot read.',
    args: {
      ...healthRangeArgs(),
      buckets: t.arg.int({
        required: true,
        defaultValue: bucketsByDefault,
        validate: z.int().min(1, bucketsMessage).max(limits.healthBuckets, bucketsMessage),
        description:
          `Number of buckets, from 1 to ${limits.healthBuckets}; the default is ${bucketsByDefault}, quarters of ` +
          'an hour of a day. Error: BAD_USER_INPUT outside that range.',
      }),
    },
    extensions: cost<HealthHistoryArgs>({
      requests: (args, parents, nowMs) => healthRequests(args, nowMs) * parents,
      items: ({ buckets }) => buckets,
    }),
    resolve: async (sensor, args, { unify }) => healthHistory(unify, await sensor.deviceId(), args),
  }),
);

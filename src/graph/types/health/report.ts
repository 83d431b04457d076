import type { UnixMs } from '../../../clock.js';
import { limits } from '../../../limits.js';
import {
  defaultHealthReports,
  type HealthListArgs,
  latestHealthReport,
  listHealthReports,
} from '../../../unify/health/list/list.js';
import { longestRangeMs } from '../../../unify/health/list/windows.js';
import { connectionTypeOf, type HealthReport, type SignalStrength } from '../../../unify/health/report.js';
import { unlessMasked } from '../../../unify/masking/masking.js';
import { countOf, isBackward, type Slice } from '../../../unify/paging.js';
import { Instant } from '../../../unify/time/instant.js';
import { largestPage } from '../../../upstream/page-sizes.js';
import { builder } from '../../builder.js';
import { shown } from '../../errors/malformed.js';
import { cost } from '../../limits/cost.js';
import { HealthReportRef, SensorRef, SignalStrengthRef } from '../../refs.js';
import { bothWaysArgs, UnavailableSourceRef } from '../connection.js';

export const ConnectionTypeEnum = builder.enumType('ConnectionType', {
  description: 'Kind of connection by which a sensor sends its data.',
  values: {
    WIFI: { description: 'Wireless local network.' },
    CELL: { description: 'Cellular network.' },
    NONE: { description: 'No connection.' },
    UNKNOWN: {
      description:
        'A kind of connection that the service does not document; the neighbouring text field has its ' +
        'name.',
    },
  } as const,
});

builder.objectType(SignalStrengthRef, {
  description:
    "Strength of a sensor's radio signal. The service sends a single number, of which a negative one " +
    'is in dBm and any other in percent.',
  fields: (t) => ({
    value: t.exposeFloat('value', {
      nullable: false,
      description: 'Strength in the unit named by `unit`: below 0 for DBM, from 0 to 100 for PERCENT.',
    }),
    unit: t.expose('unit', {
      type: builder.enumType('SignalStrengthUnit', {
        description: 'Unit of a signal strength.',
        values: {
          DBM: {
            description: 'Decibels relative to one milliwatt; a value closer to 0 is a stronger signal.',
          },
          PERCENT: { description: 'Percent of a full signal, from 0 to 100.' },
        } as const,
      }),
      nullable: false,
      description: 'Unit of `value`.',
    }),
  }),
});

builder.objectType(HealthReportRef, {
  description:
    'State-of-health report of a sensor: its power, connection, clock and memory at one time. Each ' +
    'value but `timestamp` is null when the sensor did not report it.',
  fields: (t) => ({
    timestamp: t.expose('timestamp', {
      type: 'DateTime',
      nullable: false,
      description: 'Time of the report, by the sensor.',
    }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'Time at which the service received the report; null when it does not say.',
      resolve: (report) => shown(report.receivedAt),
    }),
    firmwareVersion: t.string({
      description: 'Version of the firmware that the sensor ran; null when not reported.',
      resolve: (report) => shown(report.firmwareVersion),
    }),
    powerSource: t.string({
      description:
        'Source of power, as the service writes it; the set of values is open. Null when not reported.',
      resolve: (report) => shown(report.powerSource),
    }),
    connectionType: t.field({
      type: ConnectionTypeEnum,
      description: 'Kind of connection at the time of the report; null when not reported.',
      resolve: (report) => connectionTypeOf(shown(report.connectionTypeText)),
    }),
    connectionTypeText: t.string({
      description: 'Kind of connection, as the service writes it; null when not reported.',
      resolve: (report) => shown(report.connectionTypeText),
    }),
    signalStrength: t.field({
      type: SignalStrengthRef,
      description: 'Strength of the radio signal, with its unit; null when not reported.',
      resolve: (report) => shown<SignalStrength | null>(report.signalStrength),
    }),
    uptimeS: t.float({
      description: 'Seconds since the last start of the sensor; null when not reported.',
      resolve: (report) => shown(report.uptimeS),
    }),
    rebootReason: t.string({
      description:
        'Reason for the last start of the sensor, as the service writes it; the set of values is open. ' +
        'Null when not reported.',
      resolve: (report) => shown(report.rebootReason),
    }),
    clockQuality: t.string({
      description:
        "Quality of the sensor's clock, as the service writes it; the set of values is open. Null when " +
        'not reported.',
      resolve: (report) => shown(report.clockQuality),
    }),
    syncAgeS: t.float({
      description: "Seconds since the last synchronisation of the sensor's clock; null when not reported.",
      resolve: (report) => shown(report.syncAgeS),
    }),
    dataTxBytes: t.float({
      description:
        'Bytes of sensor data sent since the last start of the sensor, without network overhead; null ' +
        'when not reported.',
      resolve: (report) => shown(report.dataTxBytes),
    }),
    dataRxBytes: t.float({
      description:
        'Bytes of sensor data received since the last start of the sensor, without network overhead; ' +
        'null when not reported.',
      resolve: (report) => shown(report.dataRxBytes),
    }),
    batteryVolts: t.float({
      description: 'Battery voltage in volts; null when not reported.',
      resolve: (report) => shown(report.batteryVolts),
    }),
    charging: t.boolean({
      description: 'True when the battery was being charged; null when not reported.',
      resolve: (report) => shown(report.charging),
    }),
    temperatureC: t.float({
      description: 'Temperature inside the sensor in degrees Celsius; null when not reported.',
      resolve: (report) => shown(report.temperatureC),
    }),
    freeHeapBytes: t.float({
      description: 'Free working memory of the sensor in bytes; null when not reported.',
      resolve: (report) => shown(report.freeHeapBytes),
    }),
    bufferUsagePct: t.float({
      description: "Used part of the sensor's data buffer in percent, from 0 to 100; null when not reported.",
      resolve: (report) => shown(report.bufferUsagePct),
    }),
    gps: t.field({
      type: 'JSON',
      description:
        "GPS position in the service's own layout, which it does not document; null when not reported, " +
        'and for a sensor under location masking.',
      resolve: (report, _, { unify }) => unlessMasked(unify, report.gps ?? null, report.readAtMs),
    }),
  }),
});

const HealthReportConnection = builder.connectionObject<typeof HealthReportRef, Slice<HealthReport>>(
  {
    type: HealthReportRef,
    name: 'HealthReportConnection',
    description: 'One page of a list of state-of-health reports.',
    fields: (t) => ({
      unavailableSources: t.field({
        type: [UnavailableSourceRef],
        nullable: { list: false, items: false },
        description:
          'The project interface, where it sent reports that cannot be read, so that the page can lack ' +
          'them; empty when the page is complete.',
        resolve: (slice) => [...slice.unavailableSources],
      }),
    }),
  },
  { name: 'HealthReportEdge', description: 'A state-of-health report with its cursor in the list.' },
);

const HealthReportOrderEnum = builder.enumType('HealthReportOrder', {
  description: 'Order of a list of state-of-health reports by the time of the report.',
  values: {
    TIMESTAMP_ASC: { description: 'The earliest report comes first.' },
    TIMESTAMP_DESC: { description: 'The latest report comes first.' },
  } as const,
});

/** `from` and `to` of a range of reports. */
export function healthRangeArgs() {
  return builder.args((t) => ({
    from: t.field({
      type: 'DateTime',
      description:
        'Start of the range, excluded; the default is 24 hours before `to`. Error: BAD_USER_INPUT ' +
        'when it is later than `to`.',
    }),
    to: t.field({ type: 'DateTime', description: 'End of the range, included; the default is now.' }),
  }));
}

builder.objectFields(SensorRef, (t) => ({
  latestHealthReport: t.field({
    type: HealthReportRef,
    description:
      'Latest state-of-health report: of the last 24 hours, or of the 24 hours before `lastSeenAt` for ' +
      'a sensor that has been silent for longer. It is at most 60 seconds old while the service ' +
      'answers. Null when there is none, and for a sensor that only the catalogue knows. Costs one ' +
      'request to the service for each sensor.',
    extensions: cost({ requests: (_, parents) => parents }),
    resolve: async (sensor, _, { unify }) => {
      const lastSeenAt = await sensor.lastSeenAt();
      return latestHealthReport(
        unify,
        await sensor.deviceId(),
        lastSeenAt instanceof Instant ? lastSeenAt : null,
      );
    },
  }),
  healthReports: t.field({
    type: HealthReportConnection,
    description:
      'State-of-health reports later than `from` and up to `to`. The range may have any length: the ' +
      'gateway splits it into the 7 days that the service permits in one request. The latest reports, by ' +
      '`last` or by TIMESTAMP_DESC, cost one request where the last 24 hours have enough of them. A page ' +
      'may have fewer reports than asked for although more follow, when ' +
      `${limits.healthPageRequests} requests to the service did not find more: continue from the cursor of ` +
      '`pageInfo`. Null for a sensor that only the catalogue knows. Errors: BAD_USER_INPUT, ' +
      'CURSOR_INVALID; QUERY_TOO_COMPLEX for the latest of reports that are too many to read.',
    args: {
      ...healthRangeArgs(),
      orderBy: t.arg({
        type: HealthReportOrderEnum,
        required: true,
        defaultValue: 'TIMESTAMP_ASC',
        description: 'Order of the list; the default is the earliest report first.',
      }),
      ...bothWaysArgs(largestPage.healthReports, defaultHealthReports),
    },
    extensions: cost<HealthListArgs>({
      requests: (args, parents, nowMs) => healthListRequests(args, nowMs) * parents,
      items: (args) => countOf(args, defaultHealthReports),
    }),
    resolve: async (sensor, args, { unify }) => listHealthReports(unify, await sensor.deviceId(), args),
  }),
}));

/** Most requests for a range: one per 7 days, since a page covers all of them. */
export function healthRequests({ from, to }: Pick<HealthListArgs, 'from' | 'to'>, nowMs: UnixMs): number {
  const rangeMs = from ? (to?.ms ?? nowMs) - from.ms : longestRangeMs;
  return Math.min(limits.healthPageRequests, Math.max(1, Math.ceil(rangeMs / longestRangeMs)));
}

// Read from its end, the last 24 hours of a longer range are a window of their own.
function healthListRequests(args: HealthListArgs, nowMs: UnixMs): number {
  const { from, orderBy } = args;
  const isFromEnd = isBackward(args) !== (orderBy === 'TIMESTAMP_DESC');
  return Math.min(limits.healthPageRequests, healthRequests(args, nowMs) + (from && isFromEnd ? 1 : 0));
}

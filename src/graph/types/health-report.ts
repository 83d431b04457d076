import { latestHealthReport, listHealthReports, mostHealthRequests } from '../../unify/health-list/list.js';
import { longestRangeMs } from '../../unify/health-list/windows.js';
import { connectionTypeOf, type SignalStrength } from '../../unify/health-report.js';
import { unlessMasked } from '../../unify/masking.js';
import { Instant } from '../../unify/time.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { shown } from '../malformed.js';
import { HealthReportRef, SensorRef, SignalStrengthRef } from '../refs.js';
import { forwardArgs } from './connection.js';

const mostReports = 5000;
const reportsByDefault = 100;

export const ConnectionTypeEnum = builder.enumType('ConnectionType', {
  description: 'How a sensor is connected (key-scoped §2).',
  values: {
    WIFI: { description: 'Wireless network.' },
    CELL: { description: 'Cellular network.' },
    NONE: { description: 'Not connected.' },
    UNKNOWN: { description: 'A type that upstream does not document: the text beside it says which.' },
  } as const,
});

builder.objectType(SignalStrengthRef, {
  description:
    'Strength of the radio signal. Upstream sends one number: dBm when negative, percent otherwise.',
  fields: (t) => ({
    value: t.exposeFloat('value', { nullable: false, description: 'In the unit beside it.' }),
    unit: t.expose('unit', {
      type: builder.enumType('SignalStrengthUnit', {
        description: 'Unit of a signal strength.',
        values: {
          DBM: { description: 'Decibels relative to a milliwatt.' },
          PERCENT: { description: 'Percent of a full signal.' },
        } as const,
      }),
      nullable: false,
      description: 'Unit of the value.',
    }),
  }),
});

builder.objectType(HealthReportRef, {
  description: 'What a sensor said of its own health at one time (key-scoped §2, state of health).',
  fields: (t) => ({
    timestamp: t.expose('timestamp', {
      type: 'DateTime',
      nullable: false,
      description: "The sensor's own time of the report.",
    }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'When the service received it.',
      resolve: (report) => shown(report.receivedAt),
    }),
    firmwareVersion: t.string({
      description: 'Firmware that the sensor ran.',
      resolve: (report) => shown(report.firmwareVersion),
    }),
    powerSource: t.string({
      description: 'What powered it, as upstream writes it: an open set.',
      resolve: (report) => shown(report.powerSource),
    }),
    connectionType: t.field({
      type: ConnectionTypeEnum,
      description: 'How it was connected.',
      resolve: (report) => connectionTypeOf(shown(report.connectionTypeText)),
    }),
    connectionTypeText: t.string({
      description: 'How it was connected, as upstream writes it.',
      resolve: (report) => shown(report.connectionTypeText),
    }),
    signalStrength: t.field({
      type: SignalStrengthRef,
      description: 'Strength of its radio signal.',
      resolve: (report) => shown<SignalStrength | null>(report.signalStrength),
    }),
    uptimeS: t.float({
      description: 'Seconds since the sensor started.',
      resolve: (report) => shown(report.uptimeS),
    }),
    rebootReason: t.string({
      description: 'Why it started last, as upstream writes it: an open set.',
      resolve: (report) => shown(report.rebootReason),
    }),
    clockQuality: t.string({
      description: 'Quality of its clock, as upstream writes it: an open set.',
      resolve: (report) => shown(report.clockQuality),
    }),
    syncAgeS: t.float({
      description: 'Seconds since its clock was synchronised.',
      resolve: (report) => shown(report.syncAgeS),
    }),
    dataTxBytes: t.float({
      description: 'Bytes sent since the sensor last started, network overhead excluded.',
      resolve: (report) => shown(report.dataTxBytes),
    }),
    dataRxBytes: t.float({
      description: 'Bytes received since the sensor last started, network overhead excluded.',
      resolve: (report) => shown(report.dataRxBytes),
    }),
    batteryVolts: t.float({
      description: 'Volts of its battery; null when not reported.',
      resolve: (report) => shown(report.batteryVolts),
    }),
    charging: t.boolean({
      description: 'Whether the battery was being charged; null when not reported.',
      resolve: (report) => shown(report.charging),
    }),
    temperatureC: t.float({
      description: 'Temperature inside, in degrees Celsius; null when not reported.',
      resolve: (report) => shown(report.temperatureC),
    }),
    freeHeapBytes: t.float({
      description: 'Bytes of memory left; null when not reported.',
      resolve: (report) => shown(report.freeHeapBytes),
    }),
    bufferUsagePct: t.float({
      description: 'Percent of its buffer in use; null when not reported.',
      resolve: (report) => shown(report.bufferUsagePct),
    }),
    gps: t.field({
      type: 'JSON',
      description: 'GPS position as upstream wrote it; null when not reported or masked.',
      resolve: (report, _, { unify }) => unlessMasked(unify, report.gps ?? null, report.readAtMs),
    }),
  }),
});

const HealthReportConnection = builder.connectionObject(
  { type: HealthReportRef, name: 'HealthReportConnection', description: 'One page of health reports.' },
  { name: 'HealthReportEdge', description: 'A health report and its place in the list.' },
);

interface HealthInput {
  readonly from?: Instant | null | undefined;
  readonly to?: Instant | null | undefined;
  readonly first?: number | null | undefined;
}

builder.objectFields(SensorRef, (t) => ({
  latestHealthReport: t.field({
    type: HealthReportRef,
    description:
      'Its last health report: of the last 24 hours, or of the 24 hours before it was last heard of. At most 60 seconds ' +
      'old while upstream answers. Null for a sensor that the project does not have. One upstream request for each sensor.',
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
      'Oldest first. Any length of range: the gateway splits what upstream limits to 7 days. `from` exclusive, `to` ' +
      'inclusive. Null for a sensor that the project does not have. A page may hold fewer than `first` with ' +
      `\`hasNextPage\` true, when ${mostHealthRequests} upstream requests did not find more: go on from \`endCursor\`.`,
    args: {
      from: t.arg({ type: 'DateTime', description: 'Start, exclusive; 24 hours before `to` when left out.' }),
      to: t.arg({ type: 'DateTime', description: 'End, inclusive; now when left out.' }),
      ...forwardArgs(mostReports, reportsByDefault),
    },
    extensions: cost<HealthInput>({
      requests: (args, parents, nowMs) => requestsOf(args, nowMs) * parents,
      items: ({ first }) => first ?? reportsByDefault,
    }),
    resolve: async (sensor, { first, ...range }, { unify }) =>
      listHealthReports(unify, await sensor.deviceId(), { ...range, first: first ?? reportsByDefault }),
  }),
}));

// One for each 7 days: a page holds all that was asked for, or all of its window.
function requestsOf({ from, to }: HealthInput, nowMs: number): number {
  const rangeMs = from ? (to?.ms ?? nowMs) - from.ms : longestRangeMs;
  return Math.min(mostHealthRequests, Math.max(1, Math.ceil(rangeMs / longestRangeMs)));
}

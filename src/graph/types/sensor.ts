import { whenKnown } from '../../maybe.js';
import { distanceKm } from '../../unify/geodesy.js';
import { connectionTypeOf, signalStrengthOf } from '../../unify/health-report.js';
import { publicPosition } from '../../unify/masking.js';
import { Network } from '../../unify/network.js';
import type { PublicPosition } from '../../unify/position.js';
import { readSensor } from '../../unify/sensor-lookup.js';
import type { SensorStatus } from '../../unify/sensor-status.js';
import type { Instant } from '../../unify/time.js';
import { known } from '../../upstream/decode.js';
import type { WireSensor } from '../../upstream/project/wire.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { loadEach } from '../load-nodes.js';
import { shown } from '../malformed.js';
import { nodeKey } from '../node-id.js';
import { NetworkRef, SensorRef, SignalStrengthRef } from '../refs.js';
import { SourceEnum } from './connection.js';
import { PointInput } from './geography.js';
import { ConnectionTypeEnum } from './health-report.js';

export const SensorStatusEnum = builder.enumType('SensorStatus', {
  description: 'Whether a sensor is heard of (key-scoped §3, catalogue §3).',
  values: {
    ONLINE: { description: 'Heard of: within the last 150 seconds, where the project has the sensor.' },
    OFFLINE: { description: 'Not online.' },
    UNKNOWN: { description: 'A status that upstream does not document: `statusText` has it.' },
  } as const satisfies Record<SensorStatus, object>,
});

const SensorLocationRef = builder.objectRef<PublicPosition>('SensorLocation').implement({
  description: 'Where a sensor stands, as far as location masking lets it be shown. WGS 84.',
  fields: (t) => ({
    latitude: t.exposeFloat('latitude', { nullable: false, description: 'Degrees north.' }),
    longitude: t.exposeFloat('longitude', { nullable: false, description: 'Degrees east.' }),
    elevationM: t.float({
      description: 'Metres above sea level; rounded to 100 m by upstream while masked.',
      resolve: (position) => shown(position.elevationM),
    }),
    name: t.string({
      description:
        'Name of the site. Null when withheld by location masking. Of a sensor that only the catalogue has it costs an ' +
        'upstream request.',
      resolve: (position) => whenKnown(position.siteName(), shown<string | null>),
    }),
    masked: t.exposeBoolean('masked', {
      nullable: false,
      description: 'True when the position is displaced by 500 to 1000 m.',
    }),
  }),
});

const PowerRef = builder.objectRef<NonNullable<WireSensor['power']>>('Power').implement({
  description: 'Power supply of a sensor, as the project knows it.',
  fields: (t) => ({
    batteryVolts: t.float({
      description: 'Volts of the battery; null when the sensor does not report it.',
      resolve: (power) => shown(power.battery_volts),
    }),
    charging: t.boolean({
      description: 'Whether the battery is being charged; null when the sensor does not report it.',
      resolve: (power) => shown(power.charging),
    }),
    source: t.string({
      description: 'What it runs on, as upstream writes it.',
      resolve: (power) => shown(power.source),
    }),
  }),
});

const ConnectivityRef = builder.objectRef<NonNullable<WireSensor['connectivity']>>('Connectivity').implement({
  description: 'How a sensor is connected, as the project knows it.',
  fields: (t) => ({
    type: t.field({
      type: ConnectionTypeEnum,
      nullable: false,
      description: 'Kind of connection.',
      resolve: (connectivity) => connectionTypeOf(connectivity.type) ?? 'UNKNOWN',
    }),
    typeText: t.string({
      nullable: false,
      description: 'The kind of connection as upstream writes it; empty where it does not say.',
      resolve: (connectivity) => known(connectivity.type) ?? '',
    }),
    signalStrength: t.field({
      type: SignalStrengthRef,
      description: 'Strength of the signal; null when not reported.',
      resolve: (connectivity) => shown(signalStrengthOf(connectivity.signal_strength)),
    }),
  }),
});

// What is said of one sensor of the catalogue is read by itself.
const oneEach = cost({ requests: (_, parents) => parents });
const oneForAll = cost({ requests: () => 1 });

builder.node(SensorRef, {
  description:
    'A sensor, from the records of both interfaces: the same when its serial number is its Device ID, or else when station ' +
    'and network code are both equal. Where both have a value the project holds, and the catalogue fills what is missing.',
  id: nodeKey((sensor) => sensor.key()),
  loadManyWithoutCache: (keys, { unify }) => loadEach(keys, async (key) => readSensor(unify, { key })),
  fields: (t) => ({
    deviceId: t.string({
      description:
        'Device ID, 12 upper-case hexadecimal characters. Null for a sensor that the project does not have.',
      resolve: (sensor) => sensor.deviceId(),
    }),
    catalogueId: t.string({
      description: "The catalogue's identifier. Null for a sensor that the catalogue does not have.",
      extensions: oneForAll,
      resolve: (sensor) => sensor.catalogueId(),
    }),
    serialNumber: t.string({
      description: 'Serial number as the catalogue writes it.',
      extensions: oneForAll,
      resolve: (sensor) => whenKnown(sensor.serialNumber(), shown<string | null>),
    }),
    stationCode: t.string({
      nullable: false,
      description: 'Seismic station code; empty where upstream gives none.',
      resolve: (sensor) => sensor.stationCode(),
    }),
    networkCode: t.string({
      description:
        "Seismic network code. Of a sensor that only the catalogue has it is its network's, learnt once a day.",
      resolve: (sensor) => whenKnown(sensor.networkCode(), shown<string | null>),
    }),
    locationCode: t.string({
      description: 'SEED location code, from the catalogue. One upstream request for each sensor.',
      extensions: oneEach,
      resolve: async (sensor) => shown(await sensor.locationCode()),
    }),
    model: t.string({
      description: 'Name of the model.',
      resolve: (sensor) => whenKnown(sensor.model(), shown<string | null>),
    }),
    firmwareVersion: t.string({
      description:
        'Version of the firmware. Of a sensor that only the catalogue has it costs an upstream request.',
      resolve: (sensor) => whenKnown(sensor.firmwareVersion(), shown<string | null>),
    }),
    status: t.field({
      type: SensorStatusEnum,
      nullable: false,
      description:
        'As of this response: a sensor of the project not heard of for 150 seconds is OFFLINE, however old the cached ' +
        'record is. Else a text that is neither online nor offline is UNKNOWN.',
      resolve: (sensor) => sensor.status(),
    }),
    statusText: t.string({
      nullable: false,
      description: 'The status as upstream wrote it, as of `asOf`; empty where it wrote none.',
      resolve: (sensor) => sensor.statusText(),
    }),
    lastSeenAt: t.field({
      type: 'DateTime',
      description: 'When the service last heard of it.',
      resolve: (sensor) => whenKnown(sensor.lastSeenAt(), shown<Instant | null>),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the catalogue took it up. One upstream request for each sensor.',
      extensions: oneEach,
      resolve: async (sensor) => shown(await sensor.createdAt()),
    }),
    location: t.field({
      type: SensorLocationRef,
      description:
        "Where it stands: the project's position whole, else the catalogue's. Null where neither has one or location " +
        'masking withholds it; null with an error as long as the project has not said whether it masks positions.',
      resolve: (sensor, _, { unify }) => publicPosition(unify, sensor),
    }),
    power: t.field({
      type: PowerRef,
      description: 'Power supply. Null for a sensor that the project does not have.',
      resolve: (sensor) => sensor.power(),
    }),
    connectivity: t.field({
      type: ConnectivityRef,
      description: 'Connection. Null for a sensor that the project does not have.',
      resolve: (sensor) => sensor.connectivity(),
    }),
    network: t.field({
      type: NetworkRef,
      description: 'Network of the catalogue. The networks of all sensors are one upstream request.',
      extensions: oneForAll,
      resolve: (sensor, _, { unify }) =>
        whenKnown(sensor.networkId(), (id) => {
          const networkId = shown<string | null>(id);
          return networkId === null ? null : new Network(unify, networkId);
        }),
    }),
    distanceKm: t.float({
      description:
        'Great-circle (geodesic) distance in kilometres, from the position that may be shown. Null without one.',
      args: { from: t.arg({ type: PointInput, required: true, description: 'Distance from this place.' }) },
      resolve: (sensor, { from }, { unify }) =>
        whenKnown(publicPosition(unify, sensor), (position) => position && distanceKm(from, position)),
    }),
    sources: t.field({
      type: [SourceEnum],
      nullable: false,
      description: 'The interfaces that have it, as far as they could say.',
      extensions: oneForAll,
      resolve: (sensor) => whenKnown(sensor.sources(), (sources) => [...sources]),
    }),
    asOf: t.field({
      type: 'DateTime',
      nullable: false,
      description: 'When the gateway read this from upstream: the oldest of the records it is made of.',
      resolve: (sensor) => sensor.asOf(),
    }),
  }),
});

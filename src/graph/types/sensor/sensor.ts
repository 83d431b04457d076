import { whenKnown } from '../../../maybe.js';
import { distanceKm } from '../../../unify/geo/geodesy.js';
import { connectionTypeOf, signalStrengthOf } from '../../../unify/health/report.js';
import { publicPosition } from '../../../unify/masking/masking.js';
import type { PublicPosition } from '../../../unify/masking/position.js';
import { Network } from '../../../unify/network/network.js';
import { readSensor } from '../../../unify/sensor/lookup.js';
import type { SensorStatus } from '../../../unify/sensor/status.js';
import type { Instant } from '../../../unify/time/instant.js';
import { asId, known } from '../../../upstream/decode/fields.js';
import type { WireSensor } from '../../../upstream/project/wire.js';
import { builder } from '../../builder.js';
import { kmShown } from '../../digits.js';
import { shown } from '../../errors/malformed.js';
import { cost } from '../../limits/cost.js';
import { loadEach } from '../../load-nodes.js';
import { nodeKey } from '../../node-id.js';
import { NetworkRef, SensorRef, SignalStrengthRef } from '../../refs.js';
import { SourceEnum } from '../connection.js';
import { PointInput } from '../geography.js';
import { ConnectionTypeEnum } from '../health/report.js';

export const SensorStatusEnum = builder.enumType('SensorStatus', {
  description: 'Connection status of a sensor at the time of the response.',
  values: {
    ONLINE: {
      description:
        'The sensor is in contact with the service. A sensor of the project has reported within the ' +
        'last 150 seconds; for a sensor that only the catalogue knows, the catalogue says so.',
    },
    OFFLINE: {
      description:
        'The sensor is not in contact with the service. A sensor of the project has not reported for ' +
        '150 seconds, or the service says so.',
    },
    UNKNOWN: {
      description: 'A status that the service does not document; `Sensor.statusText` has its text.',
    },
  } as const satisfies Record<SensorStatus, object>,
});

const SensorLocationRef = builder.objectRef<PublicPosition>('SensorLocation').implement({
  description:
    'Position of a sensor (WGS 84), as far as location masking permits. Under masking the service ' +
    'displaces it by 500 to 1000 m.',
  fields: (t) => ({
    latitude: t.exposeFloat('latitude', {
      nullable: false,
      description: 'Latitude in degrees north, from -90 to 90.',
    }),
    longitude: t.exposeFloat('longitude', {
      nullable: false,
      description: 'Longitude in degrees east, from -180 to 180.',
    }),
    elevationM: t.float({
      description:
        'Elevation in metres above sea level; under location masking the service rounds it to 100 m. ' +
        'Null when it is not known.',
      resolve: (position) => shown(position.elevationM),
    }),
    name: t.string({
      description:
        'Name of the site; null when it is not known, and for a sensor under location masking. For a ' +
        'sensor that only the catalogue knows it costs one request to the service.',
      resolve: (position) => whenKnown(position.siteName(), shown<string | null>),
    }),
    masked: t.exposeBoolean('masked', {
      nullable: false,
      description:
        'True when the position is displaced by 500 to 1000 m, because the project masks locations.',
    }),
  }),
});

const PowerRef = builder.objectRef<NonNullable<WireSensor['power']>>('Power').implement({
  description: 'Power supply of a sensor, as the project reports it.',
  fields: (t) => ({
    batteryVolts: t.float({
      description: 'Battery voltage in volts; null when the sensor does not report it.',
      resolve: (power) => shown(power.battery_volts),
    }),
    charging: t.boolean({
      description: 'True when the battery is being charged; null when the sensor does not report it.',
      resolve: (power) => shown(power.charging),
    }),
    source: t.string({
      description:
        'Source of power, as the project writes it; the set of values is open. Null when the sensor ' +
        'does not report it.',
      resolve: (power) => shown(power.source),
    }),
  }),
});

const ConnectivityRef = builder.objectRef<NonNullable<WireSensor['connectivity']>>('Connectivity').implement({
  description: 'Connection by which a sensor sends its data, as the project reports it.',
  fields: (t) => ({
    type: t.field({
      type: ConnectionTypeEnum,
      nullable: false,
      description:
        'Kind of connection; UNKNOWN for a kind that the service does not document, and when the ' +
        'project does not say.',
      resolve: (connectivity) => connectionTypeOf(connectivity.type) ?? 'UNKNOWN',
    }),
    typeText: t.string({
      nullable: false,
      description: 'Kind of connection, as the project writes it; empty when the project does not say.',
      resolve: (connectivity) => known(connectivity.type) ?? '',
    }),
    signalStrength: t.field({
      type: SignalStrengthRef,
      description: 'Strength of the radio signal, with its unit; null when the sensor does not report it.',
      resolve: (connectivity) => shown(signalStrengthOf(connectivity.signal_strength)),
    }),
  }),
});

// Details of a catalogue sensor need one request per sensor.
const oneEach = cost({ requests: (_, parents) => parents });
const oneForAll = cost({ requests: () => 1 });

builder.node(SensorRef, {
  description:
    'A seismic sensor. The records that both interfaces have of the same sensor are one Sensor: their ' +
    'serial number equals the Device ID, or else station code and network code are both equal. Where ' +
    "both have a value the project's is shown, and the catalogue fills the gaps.",
  id: nodeKey((sensor) => sensor.key()),
  loadManyWithoutCache: (keys, { unify }) => loadEach(keys, async (key) => readSensor(unify, { key })),
  fields: (t) => ({
    deviceId: t.string({
      description:
        'Device ID, as 12 upper-case hexadecimal characters; null for a sensor that only the catalogue ' +
        'knows.',
      resolve: (sensor) => sensor.deviceId(),
    }),
    catalogueId: t.string({
      description:
        'Identifier of the sensor in the catalogue interface; null for a sensor that only the project ' +
        'knows.',
      extensions: oneForAll,
      resolve: (sensor) => sensor.catalogueId(),
    }),
    serialNumber: t.string({
      description:
        'Serial number, as the catalogue writes it; null for a sensor that only the project knows.',
      extensions: oneForAll,
      resolve: (sensor) => whenKnown(sensor.serialNumber(), shown<string | null>),
    }),
    stationCode: t.string({
      nullable: false,
      description: 'Seismic station code; empty when the service gives none.',
      resolve: (sensor) => sensor.stationCode(),
    }),
    networkCode: t.string({
      description:
        'Seismic network code; null when it is not known. For a sensor that only the catalogue knows ' +
        'it is learnt with its network, once a day.',
      resolve: (sensor) => whenKnown(sensor.networkCode(), shown<string | null>),
    }),
    locationCode: t.string({
      description:
        'SEED location code, from the catalogue; null when the catalogue gives none. Costs one request ' +
        'to the service for each sensor.',
      extensions: oneEach,
      resolve: async (sensor) => shown(await sensor.locationCode()),
    }),
    model: t.string({
      description: 'Name of the sensor model; null when it is not known.',
      resolve: (sensor) => whenKnown(sensor.model(), shown<string | null>),
    }),
    firmwareVersion: t.string({
      description:
        'Version of the firmware; null when it is not known. For a sensor that only the catalogue ' +
        'knows it costs one request to the service.',
      resolve: (sensor) => whenKnown(sensor.firmwareVersion(), shown<string | null>),
    }),
    status: t.field({
      type: SensorStatusEnum,
      nullable: false,
      description:
        'Connection status at the time of the response. A sensor of the project that has not reported ' +
        'for 150 seconds is OFFLINE, however old the cached record is; any other status follows ' +
        '`statusText`.',
      resolve: (sensor) => sensor.status(),
    }),
    statusText: t.string({
      nullable: false,
      description: 'Status as the service wrote it at the time `asOf`; empty when it wrote none.',
      resolve: (sensor) => sensor.statusText(),
    }),
    lastSeenAt: t.field({
      type: 'DateTime',
      description: "Time of the sensor's last contact with the service; null when it is not known.",
      resolve: (sensor) => whenKnown(sensor.lastSeenAt(), shown<Instant | null>),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description:
        'Time at which the catalogue created its record of the sensor; null when it does not say. ' +
        'Costs one request to the service for each sensor.',
      extensions: oneEach,
      resolve: async (sensor) => shown(await sensor.createdAt()),
    }),
    location: t.field({
      type: SensorLocationRef,
      description:
        "Position of the sensor: the project's as a whole where it has one, otherwise the catalogue's. " +
        'Null when neither has one and when location masking withholds it; null with an error as long ' +
        'as it is not known whether the project masks locations.',
      resolve: (sensor, _, { unify }) => publicPosition(unify, sensor),
    }),
    power: t.field({
      type: PowerRef,
      description: 'Power supply; null for a sensor that only the catalogue knows.',
      resolve: (sensor) => sensor.power(),
    }),
    connectivity: t.field({
      type: ConnectivityRef,
      description:
        'Connection by which the sensor sends its data; null for a sensor that only the catalogue ' +
        'knows.',
      resolve: (sensor) => sensor.connectivity(),
    }),
    network: t.field({
      type: NetworkRef,
      description:
        'Network of the sensor in the catalogue; null when the catalogue gives none. The networks of ' +
        'all sensors of an answer cost one request to the service.',
      extensions: oneForAll,
      resolve: (sensor, _, { unify }) =>
        whenKnown(sensor.networkId(), (id) => {
          const networkId = shown<string | null>(id);
          return networkId === null ? null : new Network(unify, asId(networkId));
        }),
    }),
    distanceKm: t.float({
      description:
        'Distance in kilometres along the geodesic on the WGS 84 ellipsoid, between a place and the ' +
        'position of the sensor that may be shown, rounded to metres; null without such a position.',
      args: {
        from: t.arg({
          type: PointInput,
          required: true,
          description: 'Place from which the distance is measured.',
        }),
      },
      resolve: (sensor, { from }, { unify }) =>
        whenKnown(
          publicPosition(unify, sensor),
          (position) => position && kmShown(distanceKm(from, position)),
        ),
    }),
    sources: t.field({
      type: [SourceEnum],
      nullable: false,
      description:
        'Interfaces that know the sensor: one or both. An interface that could not answer is not among ' +
        'them.',
      extensions: oneForAll,
      resolve: (sensor) => whenKnown(sensor.sources(), (sources) => [...sources]),
    }),
    asOf: t.field({
      type: 'DateTime',
      nullable: false,
      description:
        'Time at which the gateway read this from the service; of two records that make up the sensor, ' +
        'the earlier time.',
      resolve: (sensor) => sensor.asOf(),
    }),
  }),
});

import { inNetwork, type Network, readNetwork, readNetworks } from '../../unify/network/network.js';
import { listSensors, noSensors } from '../../unify/sensor/list.js';
import { instantOf } from '../../unify/time/wire-time.js';
import type { WireNetworkStatistics } from '../../upstream/catalogue/wire.js';
import { asId } from '../../upstream/decode/fields.js';
import { builder } from '../builder.js';
import { shown, shownCount } from '../errors/malformed.js';
import { cost } from '../limits/cost.js';
import { loadEach } from '../load-nodes.js';
import { nodeKey } from '../node-id.js';
import { NetworkRef } from '../refs.js';
import { SensorConnection, sensorListArgs, sensorListCost } from './sensor/list.js';

const NetworkStatisticsRef = builder.objectRef<WireNetworkStatistics>('NetworkStatistics').implement({
  description:
    'Statistics of a network, as the catalogue counts them. Each value is null when the catalogue does ' +
    'not give it.',
  fields: (t) => ({
    totalSensors: t.int({
      description: 'Number of sensors of the network.',
      resolve: (counts) => shownCount(counts.total_sensors),
    }),
    onlineSensors: t.int({
      description: 'Number of sensors of the network that are online.',
      resolve: (counts) => shownCount(counts.online_sensors),
    }),
    offlineSensors: t.int({
      description: 'Number of sensors of the network that are offline.',
      resolve: (counts) => shownCount(counts.offline_sensors),
    }),
    events30d: t.int({
      description: 'Number of earthquakes of the last 30 days.',
      resolve: (counts) => shownCount(counts.events_30d),
    }),
    dataCompleteness: t.float({
      description:
        'Completeness of the data as a fraction from 0 to 1; the catalogue does not state the period ' +
        'that it covers.',
      resolve: (counts) => shown(counts.data_completeness),
    }),
  }),
});

// Assumed: a list of sensors spans at most this many networks; used only for the cost estimate.
const networksOfList = 20;

builder.node(NetworkRef, {
  description: 'A seismic network of the catalogue. Each value is null when the catalogue does not give it.',
  id: nodeKey((network) => network.networkId),
  loadManyWithoutCache: (ids, { unify }) => loadEach(ids, (id) => readNetwork(unify, asId(id))),
  fields: (t) => ({
    networkId: t.exposeString('networkId', {
      nullable: false,
      description:
        'Identifier of the network in the catalogue interface. It is not the seismic network code.',
    }),
    code: t.string({
      description:
        'Seismic network code, such as SG. The catalogue has it in the details of sensors alone, so it ' +
        "is read from one of the network's sensors, with one or two requests to the service once a " +
        'day; null when it cannot be learnt.',
      extensions: cost({ requests: (_, parents) => 2 * Math.min(parents, networksOfList) }),
      resolve: (network) => network.code(),
    }),
    name: t.string({
      description: 'Name of the network.',
      resolve: async (network) => shown((await network.record())?.name ?? null),
    }),
    description: t.string({
      description: 'Description of the network in words.',
      resolve: async (network) => shown((await network.record())?.description ?? null),
    }),
    organizationId: t.string({
      description: 'Identifier of the organisation that runs the network.',
      resolve: async (network) => shown((await network.record())?.organization_id ?? null),
    }),
    sensorCount: t.int({
      description: 'Number of sensors of the network, as its record in the catalogue counts them.',
      resolve: async (network) => shownCount((await network.record())?.sensor_count ?? null),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'Time at which the catalogue created its record of the network.',
      resolve: async (network) => shown(instantOf((await network.record())?.created_at ?? null)),
    }),
    statistics: t.field({
      type: NetworkStatisticsRef,
      description:
        'Statistics of the network; null when the catalogue has none. Costs one request to the service ' +
        'for each network.',
      extensions: cost({ requests: (_, parents) => Math.min(parents, networksOfList) }),
      resolve: (network) => network.statistics(),
    }),
    sensors: t.field({
      type: SensorConnection,
      description: 'Sensors of the network in exact order; paged as `Query.sensors`, with the same errors.',
      args: sensorListArgs(),
      extensions: sensorListCost,
      resolve: (network: Network, { filter, ...page }, { unify }) => {
        const within = inNetwork(filter, network.networkId);
        return within
          ? listSensors(unify, { ...page, filter: within })
          : noSensors(unify, { ...page, filter });
      },
    }),
  }),
});

builder.queryField('network', (t) =>
  t.field({
    type: NetworkRef,
    description:
      'One network of the catalogue; null when there is no such network. Costs at most two requests to ' +
      'the service. Error: NOT_CONFIGURED without the catalogue interface.',
    args: {
      networkId: t.arg.string({
        required: true,
        description: 'Identifier of the network in the catalogue interface, taken from `Network.networkId`.',
      }),
    },
    extensions: cost({ requests: () => 2 }),
    resolve: (_, { networkId }, { unify }) => readNetwork(unify, asId(networkId)),
  }),
);

builder.queryField('networks', (t) =>
  t.field({
    type: [NetworkRef],
    nullable: { list: true, items: false },
    description:
      'Networks of the organisation in the order of the catalogue. Costs one request to the service. ' +
      'Error: NOT_CONFIGURED without the catalogue interface.',
    extensions: cost({ requests: () => 1, items: () => networksOfList }),
    resolve: async (_, __, { unify }) => [...(await readNetworks(unify))],
  }),
);

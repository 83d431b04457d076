import { type Network, readNetwork, readNetworks } from '../../unify/network.js';
import { listSensors } from '../../unify/sensor-list.js';
import { instantOf } from '../../unify/wire-time.js';
import type { WireNetworkStatistics } from '../../upstream/catalogue/wire.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { loadEach } from '../load-nodes.js';
import { shown, shownCount } from '../malformed.js';
import { nodeKey } from '../node-id.js';
import { NetworkRef } from '../refs.js';
import { inNetwork, SensorConnection, sensorListArgs, sensorListCost } from './sensor-list.js';

const NetworkStatisticsRef = builder.objectRef<WireNetworkStatistics>('NetworkStatistics').implement({
  description: 'Statistics of a network, as the catalogue counts them.',
  fields: (t) => ({
    totalSensors: t.int({ description: 'Sensors.', resolve: (counts) => shownCount(counts.total_sensors) }),
    onlineSensors: t.int({
      description: 'Sensors that are online.',
      resolve: (counts) => shownCount(counts.online_sensors),
    }),
    offlineSensors: t.int({
      description: 'Sensors that are offline.',
      resolve: (counts) => shownCount(counts.offline_sensors),
    }),
    events30d: t.int({
      description: 'Events of the last 30 days.',
      resolve: (counts) => shownCount(counts.events_30d),
    }),
    dataCompleteness: t.float({
      description: 'Fraction between 0 and 1.',
      resolve: (counts) => shown(counts.data_completeness),
    }),
  }),
});

// Assumed: a list of sensors spans no more networks than this, for the estimate alone.
const networksOfList = 20;

builder.node(NetworkRef, {
  description: 'A network of the catalogue (catalogue §2).',
  id: nodeKey((network) => network.networkId),
  loadManyWithoutCache: (ids, { unify }) => loadEach(ids, (id) => readNetwork(unify, id)),
  fields: (t) => ({
    networkId: t.exposeString('networkId', { nullable: false, description: "The catalogue's identifier." }),
    code: t.string({
      description:
        "Seismic network code, learnt from the network's sensors: one or two upstream requests, once a day.",
      extensions: cost({ requests: (_, parents) => 2 * Math.min(parents, networksOfList) }),
      resolve: (network) => network.code(),
    }),
    name: t.string({
      description: 'Name.',
      resolve: async (network) => shown((await network.record())?.name ?? null),
    }),
    description: t.string({
      description: 'What it is.',
      resolve: async (network) => shown((await network.record())?.description ?? null),
    }),
    organizationId: t.string({
      description: 'Identifier of the organization that runs it.',
      resolve: async (network) => shown((await network.record())?.organization_id ?? null),
    }),
    sensorCount: t.int({
      description: 'Number of sensors, as the catalogue counts them.',
      resolve: async (network) => shownCount((await network.record())?.sensor_count ?? null),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the catalogue took it up.',
      resolve: async (network) => shown(instantOf((await network.record())?.created_at ?? null)),
    }),
    statistics: t.field({
      type: NetworkStatisticsRef,
      description: 'Its statistics. One upstream request for each network.',
      extensions: cost({ requests: (_, parents) => Math.min(parents, networksOfList) }),
      resolve: (network) => network.statistics(),
    }),
    sensors: t.field({
      type: SensorConnection,
      description: 'Its sensors. Ordered by station code, then network code.',
      args: sensorListArgs(),
      extensions: sensorListCost,
      resolve: (network: Network, { filter, ...page }, { unify }) => {
        // A filter by another network leaves nothing of this one.
        const none = filter?.networkId != null && filter.networkId !== network.networkId;
        const within = inNetwork(filter, network.networkId);
        return listSensors(unify, { ...page, filter: none ? { ...within, stationCodes: [] } : within });
      },
    }),
  }),
});

builder.queryField('network', (t) =>
  t.field({
    type: NetworkRef,
    description: 'A network of the catalogue; null when there is no such network.',
    args: { networkId: t.arg.string({ required: true, description: "The catalogue's identifier." }) },
    extensions: cost({ requests: () => 2 }),
    resolve: (_, { networkId }, { unify }) => readNetwork(unify, networkId),
  }),
);

builder.queryField('networks', (t) =>
  t.field({
    type: [NetworkRef],
    nullable: { list: true, items: false },
    description: 'The networks of the organization, as the catalogue lists them. One upstream request.',
    extensions: cost({ requests: () => 1, items: () => networksOfList }),
    resolve: async (_, __, { unify }) => [...(await readNetworks(unify))],
  }),
);

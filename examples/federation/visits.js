import { createServer } from 'node:http';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { createYoga } from 'graphql-yoga';

// A subgraph of station keepers: who visited which sensor, and when. It knows sensors by their Device ID alone.
const typeDefs = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])

  type Query {
    visits: [Visit!]!
  }

  type Visit {
    keeper: String!
    day: String!
    sensor: Sensor!
  }

  type Sensor @key(fields: "deviceId") {
    deviceId: String
    """
    Null for a sensor that only the catalogue knows: without a Device ID it cannot be looked up here.
    """
    visits: [Visit!]
  }
`);

// DEVICE_IDS: the sensors that were visited, in this order, one a day.
const deviceIds = (process.env.DEVICE_IDS ?? '').split(',').filter(Boolean);
const visits = deviceIds.map((deviceId, day) => ({
  keeper: day % 2 === 0 ? 'Ada' : 'Inge',
  day: `2026-01-${String(day + 1).padStart(2, '0')}`,
  sensor: { deviceId },
}));

const resolvers = {
  Query: { visits: () => visits },
  Sensor: {
    __resolveReference: ({ deviceId }) => ({ deviceId }),
    visits: ({ deviceId }) => visits.filter(({ sensor }) => sensor.deviceId === deviceId),
  },
};

const yoga = createYoga({ schema: buildSubgraphSchema({ typeDefs, resolvers }), logging: false });
const server = createServer(yoga);
server.listen(Number(process.env.PORT ?? 4001), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/graphql`);
});

// npm passes on what ends it.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';

/** The baseline: one fetch per field, and samples as the list of Float that one would write at first. */
const schema = createSchema({
  typeDefs: `
    type Query { sensor(by: SensorLookup!): Sensor }
    input SensorLookup { catalogueId: String }
    type Sensor { waveform(channel: Channel!, start: String!, end: String!): Waveform }
    enum Channel { HNZ HNE HNN }
    type Waveform { samples: [Float!]! }
  `,
  resolvers: {
    Query: { sensor: (_: unknown, { by }: { by: { catalogueId: string } }) => by },
    Sensor: {
      async waveform({ catalogueId }: { catalogueId: string }, window: Record<string, string>) {
        const response = await fetch(
          `${process.env.CATALOGUE_API_URL}/v1/sensors/${catalogueId}/data?${new URLSearchParams(window)}`,
        );
        return ((await response.json()) as { data: object }).data;
      },
    },
  },
});

const server = createServer(createYoga({ schema, logging: false }));
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});

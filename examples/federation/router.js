import { createServer } from 'node:http';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';

// Composes seisgraph (started with FEDERATION=true) with the visits of station keepers, and serves both as one graph.
const subgraphs = {
  seisgraph: process.env.SEISGRAPH_URL ?? 'http://127.0.0.1:4000/graphql',
  visits: process.env.VISITS_URL ?? 'http://127.0.0.1:4001/graphql',
};

const services = await Promise.all(
  Object.entries(subgraphs).map(async ([name, url]) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ _service { sdl } }' }),
    });
    const { data } = await response.json();
    return { name, url, typeDefs: parse(data._service.sdl) };
  }),
);

const composition = composeServices(services);
if (composition.errors?.length) throw new AggregateError(composition.errors, 'The subgraphs do not compose');

const gateway = createGatewayRuntime({ supergraph: composition.supergraphSdl, logging: false });
const server = createServer(gateway);
server.listen(Number(process.env.PORT ?? 4002), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/graphql`);
});

// npm passes on what ends it.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
    gateway[Symbol.asyncDispose]();
  });
}

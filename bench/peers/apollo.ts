import { type DataSourceConfig, RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginCacheControl } from '@apollo/server/plugin/cacheControl';
import responseCachePlugin from '@apollo/server-plugin-response-cache';
import { fastifyApolloDrainPlugin, fastifyApolloHandler } from '@as-integrations/fastify';
import fastify from 'fastify';
import { fetch } from 'undici';
import { dispatcher } from './fetching.js';
import { type Context, type Reads, resolvers } from './resolvers.js';
import { typeDefs } from './schema.js';
import { type Kind, lifetimeS, settings } from './settings.js';

class Interface extends RESTDataSource {
  override baseURL: string;
  readonly #key: string;

  constructor(url: string, key: string, config: DataSourceConfig) {
    super(config);
    this.baseURL = url;
    this.#key = key;
  }

  read<T>(path: string, kind: Kind): Promise<T> {
    return this.get<T>(`${this.baseURL}${path}`, {
      headers: { authorization: `Bearer ${this.#key}` },
      cacheOptions: { ttl: lifetimeS(kind) },
    });
  }
}

const app = fastify();
const server = new ApolloServer<Context>({
  typeDefs,
  resolvers,
  plugins: [
    fastifyApolloDrainPlugin(app),
    ...(process.env.RESPONSE_CACHE === 'true'
      ? [
          // A response lives as long as the shortest-lived of what it may show.
          ApolloServerPluginCacheControl({
            defaultMaxAge: lifetimeS('trigger'),
            calculateHttpHeaders: false,
          }),
          responseCachePlugin(),
        ]
      : []),
  ],
});
await server.start();
const config: DataSourceConfig = {
  cache: server.cache,
  fetch: (url, init) => fetch(url, { ...(init as object), dispatcher }),
};

app.route({
  url: '/graphql',
  method: ['GET', 'POST', 'OPTIONS'],
  handler: fastifyApolloHandler(server, { context: async () => ({ reads: readsOfOperation() }) }),
});
await app.listen({ port: 0, host: '127.0.0.1' });

/** Data sources are made for each operation, as their documentation asks for; the cache behind them is the server's. */
function readsOfOperation(): Reads {
  const project = new Interface(settings.projectUrl, settings.projectKey, config);
  const catalogue = new Interface(settings.catalogueUrl, settings.catalogueKey, config);
  return {
    project: (path, kind) => project.read(path, kind),
    catalogue: (path, kind) => catalogue.read(path, kind),
  };
}

import { createServer } from 'node:http';
import { useResponseCache } from '@graphql-yoga/plugin-response-cache';
import { createSchema, createYoga } from 'graphql-yoga';
import { fetchJson } from './fetching.js';
import { type Context, resolvers } from './resolvers.js';
import { typeDefs } from './schema.js';
import { lifetimeS } from './settings.js';

const yoga = createYoga({
  schema: createSchema<Context>({ typeDefs, resolvers }),
  context: { reads: fetchJson },
  logging: false,
  graphiql: false,
  plugins:
    process.env.RESPONSE_CACHE === 'true'
      ? [
          useResponseCache({
            session: () => null,
            ttl: lifetimeS('sensor') * 1000,
            ttlPerSchemaCoordinate: { 'Query.triggers': lifetimeS('trigger') * 1000 },
          }),
        ]
      : [],
});

createServer(yoga).listen(0, '127.0.0.1');

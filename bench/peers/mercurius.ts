import fastify from 'fastify';
import mercurius from 'mercurius';
import mercuriusCache from 'mercurius-cache';
import { fetchJson } from './fetching.js';
import type { Event, Sensor } from './records.js';
import { type Context, resolvers } from './resolvers.js';
import { typeDefs } from './schema.js';
import { type Kind, lifetimeS } from './settings.js';

declare module 'mercurius' {
  interface MercuriusContext extends Context {}
}

const app = fastify();
await app.register(mercurius, {
  schema: typeDefs,
  resolvers: resolvers as mercurius.IResolvers,
  context: () => ({ reads: fetchJson }),
  jit: 1,
});
// A CommonJS module whose types say what its default export is.
await app.register(mercuriusCache.default, {
  ttl: lifetimeS('sensor'),
  // An expired value is served while it is read again, up to five lifetimes, as in seisgraph.
  stale: 4 * lifetimeS('sensor'),
  policy: {
    Query: {
      sensors: lived('sensor'),
      sensor: lived('sensor'),
      triggers: lived('trigger'),
      events: lived('event'),
      networks: lived('network'),
    },
    // By its identity: the whole of the parent would be made into text for each look-up.
    Sensor: {
      latestHealthReport: { ...lived('health'), key: ({ self }: { self: Sensor }) => self.deviceId },
    },
    Event: {
      recordings: {
        ...lived('trigger'),
        key: ({ self, arg }: { self: Event; arg: { first?: number } }) => `${self.id} ${arg.first}`,
      },
    },
  },
});
await app.listen({ port: 0, host: '127.0.0.1' });

function lived(kind: Kind) {
  return { ttl: lifetimeS(kind), stale: 4 * lifetimeS(kind) };
}

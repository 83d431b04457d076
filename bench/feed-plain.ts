import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { realClock } from '../src/clock.js';
import { parseConfig } from '../src/config/config.js';
import { schema } from '../src/graph/schema.js';
import { createLog } from '../src/log.js';
import { unsharedStore } from '../src/store/memory.js';
import { openTenancy } from '../src/tenant.js';
import { UnifyContext } from '../src/unify/context.js';
import { newCostMeter } from '../src/upstream/read/read.js';

// The same schema and the same poller behind graphql-ws as its documentation shows it: each subscriber has an execution of
// its own for each change.
const log = createLog({ level: 'error', secrets: [] });
const keys = openTenancy({
  config: parseConfig(process.env),
  sandbox: null,
  store: unsharedStore,
  clock: realClock,
  log,
  random: Math.random,
  onRequest: () => () => {},
});
const { tenant, feeds } = await keys.access.authenticate({
  authorization: null,
  catalogueKey: null,
  address: '',
});
const server = createServer();
useServer(
  {
    schema,
    context: () => ({
      unify: new UnifyContext(tenant, {
        signal: tenant.signal,
        priority: 'query',
        operationKey: {},
        meter: newCostMeter(),
      }),
      gateway: { version: 'plain', sandbox: false },
      feeds,
    }),
  },
  new WebSocketServer({ server, path: '/graphql' }),
);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});

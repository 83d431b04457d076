import '../heap.js';
import { startGateway } from '../app.js';
import { realClock } from '../clock.js';
import { parseConfig } from '../config/config.js';
import { secretsOf } from '../config/secrets.js';
import { endInOrder } from '../ending.js';
import { createLog } from '../log.js';
import { surviveWriteErrors } from '../log-output.js';
import { Channel } from '../store/hub/channel.js';
import type { HubCalls } from '../store/hub/hub.js';
import { handedConnections } from './handed-connections.js';
import type { LifecycleCalls, LifecycleOrders } from './lifecycle.js';
import { processPort } from './process-port.js';
import { cacheShares, type SharedStateCalls } from './shared-state.js';
import { connectSharedState } from './shared-state-client.js';
import { receiveConnections } from './worker-connections.js';

/*
 * The program of a worker process: a gateway that shares the state in the primary with the other workers. When the
 * primary has died the worker exits at once, since it would get no more connections.
 */
surviveWriteErrors();
process.once('disconnect', () => process.exit(1));
// A terminal sends it to the whole group; the primary tells the workers.
process.on('SIGHUP', () => {});
const channel = new Channel<HubCalls & SharedStateCalls & LifecycleCalls>(processPort(process));
// Before the gateway has started there are no requests to complete.
let leave: (code: number) => void = (code) => process.exit(code);
let reload = () => {};
const orders: LifecycleOrders = { leave: () => leave(0), reload: () => reload() };
channel.answer(orders);
const { number, url, port, sandbox } = await channel.call('welcome');
try {
  await serve();
} catch (error) {
  await channel.call('failed', error instanceof Error ? error.message : String(error));
  process.exit(1);
}

async function serve(): Promise<void> {
  const config = parseConfig();
  const log = createLog({ level: config.logLevel, secrets: secretsOf(config), worker: number });
  const gateway = await startGateway({
    config: { ...config, cacheMaxBytes: cacheShares(config).workerBytes },
    log,
    shared: connectSharedState(channel, { clock: realClock, sandbox, usesRedis: config.redisUrl !== null }),
    listen: async (server) => {
      const connections = handedConnections(server, { url, port });
      receiveConnections(connections, (...answer) => channel.notify('took', ...answer));
      return connections;
    },
  });
  reload = () => gateway.reload();
  leave = endInOrder({
    log,
    close() {
      channel.notify('leaving');
      return gateway.close();
    },
  });
  channel.notify('ready');
}

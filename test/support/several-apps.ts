import { type Gateway, type GatewayOptions, startGateway } from '../../src/app.js';
import { realClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import { Channel } from '../../src/store/hub/channel.js';
import type { HubCalls } from '../../src/store/hub/hub.js';
import {
  cacheShares,
  SharedState,
  type SharedStateCalls,
  type WorkerCalls,
} from '../../src/workers/shared-state.js';
import { connectSharedState } from '../../src/workers/shared-state-client.js';
import { sharedListening } from './listening.js';
import { messagePorts } from './ports.js';

/**
 * As many gateways as WORKERS says, behind one port of this process, with in common what workers have: so that tests which
 * drive the clock, or look into the sandbox, can have several as well.
 */
export async function startSeveral(options: GatewayOptions): Promise<Gateway> {
  const { clock = realClock, log = createLog({ level: 'silent', secrets: [] }), socketsPerClient } = options;
  const config = options.config;
  const sharedState = new SharedState({ config, clock, log, ...(socketsPerClient && { socketsPerClient }) });
  const front = sharedListening(config);
  const started = Array.from({ length: config.workers }, async () => {
    const { ends, close } = messagePorts();
    sharedState.serve(new Channel<WorkerCalls>(ends[0]));
    const channel = new Channel<HubCalls & SharedStateCalls>(ends[1]);
    const gateway = await startGateway({
      ...options,
      config: { ...config, cacheMaxBytes: cacheShares(config).workerBytes },
      shared: connectSharedState(channel, { clock, sandbox: null, usesRedis: config.redisUrl !== null }),
      listen: (server) => front.add(server),
    });
    return { gateway, close };
  });
  const all = await Promise.all(started);
  const { url, port } = (all[0] as (typeof all)[0]).gateway;
  const close = async (graceMs?: number) => {
    await Promise.all(all.map(({ gateway }) => gateway.close(graceMs)));
    for (const one of all) one.close();
  };
  const reload = () => {
    for (const { gateway } of all) gateway.reload();
  };
  return { url, port, reload, close, [Symbol.asyncDispose]: () => close() };
}

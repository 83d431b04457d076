import type { Shared } from '../app.js';
import type { Clock } from '../clock.js';
import type { OwnReports } from '../server/ops/peers.js';
import type { Channel } from '../store/hub/channel.js';
import type { HubCalls } from '../store/hub/hub.js';
import { openHubStore } from '../store/hub/store.js';
import type { SandboxAddress } from '../tenant.js';
import type { SharedStateCalls, WorkerCalls } from './shared-state.js';
import { withinMs } from './within.js';

export interface MemberOptions {
  readonly clock: Clock;
  readonly sandbox: SandboxAddress | null;
  /** True if instances share through Redis; otherwise the workers share through the primary. */
  readonly usesRedis: boolean;
}

// Longer than the primary waits for the other workers (2 s).
const answerWithinMs = 2_500;

/** A worker's side of the state that all workers share: calls to the primary. */
export function connectSharedState(
  channel: Channel<HubCalls & SharedStateCalls>,
  { clock, sandbox, usesRedis }: MemberOptions,
): Shared {
  return {
    store: usesRedis ? null : openHubStore(channel, clock),
    sandbox,
    operationBudget: { take: (clientId) => channel.call('takeOperation', clientId) },
    clientConnections: {
      async take(clientId) {
        const isTaken = await channel.call('takeSocket', clientId);
        return isTaken ? () => channel.notify('releaseSocket', clientId) : null;
      },
    },
    peers: {
      serve({ health, metrics }: OwnReports) {
        const reports: Pick<WorkerCalls, 'ownHealth' | 'ownMetrics'> = {
          ownHealth: health,
          ownMetrics: metrics,
        };
        channel.answer(reports);
      },
      health: () => withinMs(answerWithinMs, channel.call('health')).catch(() => []),
      metrics: (own) => withinMs(answerWithinMs, channel.call('metrics', own)).catch(() => []),
    },
  };
}

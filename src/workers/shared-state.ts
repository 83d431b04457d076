import type { Clock } from '../clock.js';
import type { Config } from '../config/config.js';
import type { Log } from '../log.js';
import { RateBuckets } from '../server/auth/client-rate.js';
import { countsOf, type MetricsReport } from '../server/ops/merged-metrics.js';
import type { HealthReport } from '../server/ops/peers.js';
import { ConnectionLimit, type ReleaseConnection } from '../server/websocket/connection-limit.js';
import type { Channel } from '../store/hub/channel.js';
import { Hub, type HubNotices } from '../store/hub/hub.js';
import { primaryReport } from './primary-report.js';
import { withinMs } from './within.js';

/** Calls of a worker to the primary, besides those to the hub. */
export interface SharedStateCalls {
  /** See `OperationBudget`. */
  takeOperation(clientId: string): number | null;
  /** Takes a socket of the client's connection limit; false where none is left. */
  takeSocket(clientId: string): boolean;
  releaseSocket(clientId: string): void;
  /** Reports of the other workers. */
  health(): Promise<readonly HealthReport[]>;
  metrics(own: MetricsReport): Promise<readonly MetricsReport[]>;
}

/** Calls of the primary to a worker. */
export interface WorkerCalls extends HubNotices {
  ownHealth(): HealthReport;
  ownMetrics(): Promise<MetricsReport>;
}

// A busy worker must not delay the response of another: readiness probes time out after about a second.
const healthWithinMs = 300;
const metricsWithinMs = 2_000;

export interface SharedStateOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly socketsPerClient?: number;
}

/** The state that the workers of one gateway share; it lives in the primary. */
export class SharedState {
  /** Null where the workers share Redis. */
  readonly #hub: Hub | null;
  readonly #log: Log;
  readonly #operations: RateBuckets;
  readonly #connections: ConnectionLimit;
  readonly #members = new Set<Member>();
  /** Last reports of the workers that have ended, merged. */
  #ended: Promise<readonly MetricsReport[]> = Promise.resolve([]);

  constructor({ config, clock, log, socketsPerClient }: SharedStateOptions) {
    this.#log = log;
    this.#hub = config.redisUrl === null ? new Hub({ clock, maxBytes: cacheShares(config).hubBytes }) : null;
    this.#operations = new RateBuckets(config.clientRatePerMinute ?? Number.POSITIVE_INFINITY, clock);
    this.#connections = new ConnectionLimit(socketsPerClient);
  }

  /** Answers one worker for as long as its channel is open. */
  serve(channel: Channel<WorkerCalls>): void {
    const member: Member = { channel, connections: new Map(), counted: null };
    this.#members.add(member);
    this.#hub?.serve(channel);
    channel.answer(this.#callsOf(member));
    channel.onClose(() => this.#end(member));
  }

  #callsOf(member: Member): SharedStateCalls {
    return {
      takeOperation: (clientId) => this.#operations.take(clientId),
      takeSocket: (clientId) => {
        const release = this.#connections.take(clientId);
        if (!release) return false;
        const releases = member.connections.get(clientId);
        if (releases) releases.push(release);
        else member.connections.set(clientId, [release]);
        return true;
      },
      releaseSocket: (clientId) => {
        const releases = member.connections.get(clientId) ?? [];
        releases.pop()?.();
        if (releases.length === 0) member.connections.delete(clientId);
      },
      health: async () => {
        const others = this.#others(member).map(({ channel }) =>
          withinMs(healthWithinMs, channel.call('ownHealth')).catch(() => null),
        );
        return (await Promise.all(others)).filter((report) => report !== null);
      },
      metrics: async (own) => {
        // Stored so that counters do not decrease when this worker ends.
        member.counted = own;
        const others = await Promise.all(this.#others(member).map(countedBy));
        return [
          ...others.filter((report) => report !== null),
          ...(await this.#ended),
          await primaryReport(this.#hub, this.#log),
        ];
      },
    };
  }

  #others(member: Member): readonly Member[] {
    return [...this.#members].filter((other) => other !== member);
  }

  #end(member: Member): void {
    this.#members.delete(member);
    for (const releases of member.connections.values()) for (const release of releases) release();
    const { counted } = member;
    if (counted) this.#ended = this.#ended.then(async (before) => [await countsOf([...before, counted])]);
  }
}

/** CACHE_MAX_BYTES bounds all processes together. The primary stores compressed bodies, so it needs only a quarter. */
export function cacheShares({ cacheMaxBytes, workers, redisUrl }: Config): {
  readonly hubBytes: number;
  readonly workerBytes: number;
} {
  const hubBytes = redisUrl === null ? Math.ceil(cacheMaxBytes / 4) : 0;
  return { hubBytes, workerBytes: Math.max(1, Math.floor((cacheMaxBytes - hubBytes) / workers)) };
}

interface Member {
  readonly channel: Channel<WorkerCalls>;
  /** Releases of open sockets by client; called when the worker ends. */
  readonly connections: Map<string, ReleaseConnection[]>;
  /** Its last metrics report. */
  counted: MetricsReport | null;
}

async function countedBy(member: Member): Promise<MetricsReport | null> {
  try {
    member.counted = await withinMs(metricsWithinMs, member.channel.call('ownMetrics'));
  } catch {
    // The worker is busy or has just ended: its last report is used.
  }
  return member.counted;
}

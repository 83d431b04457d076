import type { Clock } from '../clock.js';
import type { Config } from '../config/config.js';
import { RateBuckets } from '../server/auth/client-rate.js';
import { countsOf, type MetricsReport } from '../server/ops/merged-metrics.js';
import type { HealthReport } from '../server/ops/peers.js';
import {
  ConnectionLimit,
  type ReleaseConnection,
  socketsPerClient,
} from '../server/websocket/connection-limit.js';
import type { Channel } from '../store/hub/channel.js';
import { Hub, type HubNews } from '../store/hub/hub.js';
import { primaryReport } from './primary-report.js';
import { withinMs } from './within.js';

/** What a worker asks of the primary, besides what it asks of the hub. */
export interface CommonCalls {
  /** See `OperationBudget`. */
  takeOperation(clientId: string): number | null;
  /** For a socket; false where the client has all of its places. */
  takePlace(clientId: string): boolean;
  leavePlace(clientId: string): void;
  /** Of the other workers. */
  health(): Promise<readonly HealthReport[]>;
  metrics(own: MetricsReport): Promise<readonly MetricsReport[]>;
}

/** What the primary asks of a worker. */
export interface WorkerCalls extends HubNews {
  ownHealth(): HealthReport;
  ownMetrics(): Promise<MetricsReport>;
}

// One that is busy must not hold up the answer of another, to a probe that has a second or so.
const healthWithinMs = 300;
const metricsWithinMs = 2_000;

export interface CommonsOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly socketsPerClient?: number;
}

/** All that the workers of one gateway have in common; it stands in the primary. */
export class Commons {
  /** Null where the workers share Redis. */
  readonly #hub: Hub | null;
  readonly #operations: RateBuckets;
  readonly #places: ConnectionLimit;
  readonly #members = new Set<Member>();
  /** What the workers that have ended had counted. */
  #ended: Promise<readonly MetricsReport[]> = Promise.resolve([]);

  constructor({ config, clock, socketsPerClient: most = socketsPerClient }: CommonsOptions) {
    this.#hub = config.redisUrl === null ? new Hub({ clock, maxBytes: cacheShares(config).hubBytes }) : null;
    this.#operations = new RateBuckets(config.clientRatePerMinute ?? Number.POSITIVE_INFINITY, clock);
    this.#places = new ConnectionLimit(most);
  }

  /** Answers one worker for as long as its channel is open. */
  serve(channel: Channel<WorkerCalls>): void {
    const member: Member = { channel, places: new Map(), counted: null };
    this.#members.add(member);
    this.#hub?.serve(channel);
    channel.answer(this.#callsOf(member));
    channel.onClose(() => this.#end(member));
  }

  #callsOf(member: Member): CommonCalls {
    return {
      takeOperation: (clientId) => this.#operations.take(clientId),
      takePlace: (clientId) => {
        const leave = this.#places.take(clientId);
        if (!leave) return false;
        const leaves = member.places.get(clientId);
        if (leaves) leaves.push(leave);
        else member.places.set(clientId, [leave]);
        return true;
      },
      leavePlace: (clientId) => {
        const leaves = member.places.get(clientId) ?? [];
        leaves.pop()?.();
        if (leaves.length === 0) member.places.delete(clientId);
      },
      health: async () => {
        const others = this.#others(member).map(({ channel }) =>
          withinMs(healthWithinMs, channel.call('ownHealth')).catch(() => null),
        );
        return (await Promise.all(others)).filter((report) => report !== null);
      },
      metrics: async (own) => {
        // A count that has been shown must not go back when the worker that showed it ends.
        member.counted = own;
        const others = await Promise.all(this.#others(member).map(countedBy));
        return [
          ...others.filter((report) => report !== null),
          ...(await this.#ended),
          await primaryReport(this.#hub),
        ];
      },
    };
  }

  #others(member: Member): readonly Member[] {
    return [...this.#members].filter((other) => other !== member);
  }

  #end(member: Member): void {
    this.#members.delete(member);
    for (const leaves of member.places.values()) for (const leave of leaves) leave();
    const { counted } = member;
    if (counted) this.#ended = this.#ended.then(async (before) => [await countsOf([...before, counted])]);
  }
}

/** CACHE_MAX_BYTES bounds all processes together. What lies with the primary is compressed: it needs less. */
export function cacheShares({ cacheMaxBytes, workers, redisUrl }: Config): {
  readonly hubBytes: number;
  readonly workerBytes: number;
} {
  const hubBytes = redisUrl === null ? Math.ceil(cacheMaxBytes / 4) : 0;
  return { hubBytes, workerBytes: Math.max(1, Math.floor((cacheMaxBytes - hubBytes) / workers)) };
}

interface Member {
  readonly channel: Channel<WorkerCalls>;
  /** By client: they go with the worker. */
  readonly places: Map<string, ReleaseConnection[]>;
  /** What it had counted when it was last asked. */
  counted: MetricsReport | null;
}

async function countedBy(member: Member): Promise<MetricsReport | null> {
  try {
    member.counted = await withinMs(metricsWithinMs, member.channel.call('ownMetrics'));
  } catch {
    // It is busy, or has just ended: as it was the last time.
  }
  return member.counted;
}

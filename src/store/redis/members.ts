import type { Timer } from '../../clock.js';
import { goneAfterMs, heartbeatMs } from '../store.js';
import type { RedisLink } from './link.js';

// Until Redis has been reached once, an instance takes itself for one of two: an outage at the start of all of them must
// not give each the whole of a rate limit.
const unknownCount = 2;
// A message can be missed while the subscription to it is on its way.
const secondHeartbeatMs = 250;

/** Counts the live instances. The last count is retained while Redis is unreachable. */
export class RedisMembers {
  /** Resolves when this instance has been counted once and the others were notified, or when that has failed. */
  readonly counted: Promise<void>;
  readonly #link: RedisLink;
  readonly #key: string;
  #count = unknownCount;
  #timer: Timer | null = null;
  readonly #stops: (() => void)[];

  constructor(link: RedisLink) {
    this.#link = link;
    this.#key = link.key('instances', 'seen');
    let resolveCounted = () => {};
    this.counted = new Promise((resolve) => {
      resolveCounted = resolve;
    });
    this.#stops = [
      link.onChange(() => {
        if (link.isUp) void this.#heartbeat(secondHeartbeatMs).then(resolveCounted);
        else resolveCounted();
      }),
      // Another instance has joined: from now on each keeps to a smaller share while partitioned.
      link.onMessage(this.#key, () => void this.#heartbeat(heartbeatMs)),
    ];
  }

  get count(): number {
    return this.#count;
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#timer?.cancel();
    await this.#link.run(leaving, [this.#key], [this.#link.instance]).catch(() => {});
  }

  async #heartbeat(nextMs: number): Promise<void> {
    const link = this.#link;
    this.#timer?.cancel();
    try {
      const [count] = await link.run(registering, [this.#key], [link.instance, goneAfterMs]);
      this.#count = Math.max(1, Number(count));
      this.#timer?.cancel();
      this.#timer = link.clock.timer(nextMs, () => void this.#heartbeat(heartbeatMs));
    } catch {
      // Heartbeats resume when the link is up again.
    }
  }
}

const registering = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local joins = redis.call('ZADD', KEYS[1], now, ARGV[1]) == 1
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
if joins then redis.call('PUBLISH', KEYS[1], '') end
return {time, redis.call('ZCARD', KEYS[1])}`;

const leaving = `
redis.call('ZREM', KEYS[1], ARGV[1])
return {redis.call('TIME')}`;

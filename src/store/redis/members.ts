import type { Timer } from '../../clock.js';
import { goneAfterMs, heartbeatMs } from '../store.js';
import type { RedisLink } from './link.js';

/** Counts the live instances. The last count is retained while Redis is unreachable. */
export class RedisMembers {
  readonly #link: RedisLink;
  readonly #key: string;
  #count = 1;
  #timer: Timer | null = null;
  readonly #stopListening: () => void;

  constructor(link: RedisLink) {
    this.#link = link;
    this.#key = link.key('instances', 'seen');
    this.#stopListening = link.onChange(() => {
      if (link.isUp) void this.#heartbeat();
    });
  }

  get count(): number {
    return this.#count;
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#timer?.cancel();
    await this.#link.run(leaving, [this.#key], [this.#link.instance]).catch(() => {});
  }

  async #heartbeat(): Promise<void> {
    const link = this.#link;
    this.#timer?.cancel();
    try {
      const [count] = await link.run(registering, [this.#key], [link.instance, goneAfterMs]);
      this.#count = Math.max(1, Number(count));
      this.#timer = link.clock.timer(heartbeatMs, () => void this.#heartbeat());
    } catch {
      // Heartbeats resume when the link is up again.
    }
  }
}

const registering = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
return {time, redis.call('ZCARD', KEYS[1])}`;

const leaving = `
redis.call('ZREM', KEYS[1], ARGV[1])
return {redis.call('TIME')}`;

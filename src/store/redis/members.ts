import type { Timer } from '../../clock.js';
import { goneAfterMs, heartbeatMs } from '../store.js';
import type { RedisLink } from './link.js';

/** How many instances there are. What was seen last holds while Redis is away. */
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
      if (link.isUp) void this.#beat();
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

  async #beat(): Promise<void> {
    const link = this.#link;
    this.#timer?.cancel();
    try {
      const [count] = await link.run(seen, [this.#key], [link.instance, goneAfterMs]);
      this.#count = Math.max(1, Number(count));
      this.#timer = link.clock.timer(heartbeatMs, () => void this.#beat());
    } catch {
      // It goes on when Redis is back.
    }
  }
}

const seen = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
return {time, redis.call('ZCARD', KEYS[1])}`;

const leaving = `
redis.call('ZREM', KEYS[1], ARGV[1])
return {redis.call('TIME')}`;

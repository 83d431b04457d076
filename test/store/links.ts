import { vi } from 'vitest';
import { type Clock, plus, realClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import { RedisLink } from '../../src/store/redis/link.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import type { TestRedis } from '../support/redis.js';

/** An instance's connection to Redis, once it is up. `aheadMs`: how far its clock is ahead of that of Redis. */
export async function linkTo({ url }: Pick<TestRedis, 'url'>, aheadMs = 0): Promise<RedisLink> {
  const clock: Clock = { ...realClock, now: () => plus(realClock.now(), aheadMs) };
  const link = new RedisLink({ url, clock, log: createLog({ level: 'silent', secrets: [] }) });
  cleanUpAfterTests(async () => link.close());
  await isUp(link);
  return link;
}

export async function isUp(link: RedisLink, expected = true): Promise<void> {
  await vi.waitFor(
    () => {
      if (link.isUp !== expected) throw new Error(`Redis should be ${expected ? 'there' : 'away'}`);
    },
    { timeout: 15_000, interval: 5 },
  );
}

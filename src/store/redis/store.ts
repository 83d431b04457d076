import type { Store } from '../store.js';
import { redisBodies } from './bodies.js';
import { redisJournal } from './journal.js';
import { RedisLink, type RedisLinkOptions } from './link.js';
import { RedisMembers } from './members.js';
import { RedisChanges } from './replicated-log.js';

/** Instances share one Redis (docs/behaviour.md 8). It may be down at the start: they connect as soon as it is up. */
export function openRedisStore(options: RedisLinkOptions): Store {
  const link = new RedisLink(options);
  const members = new RedisMembers(link);
  return {
    connection: link,
    settled: link.settled.then(() => members.counted),
    get instances() {
      return members.count;
    },
    bodies: (name) => redisBodies(link, name),
    journal: (name) => redisJournal(link, name),
    changes: (name) => new RedisChanges(link, name),
    async close() {
      await members.close();
      link.close();
    },
  };
}

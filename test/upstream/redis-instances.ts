import { type Clock, realClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { openRedisStore } from '../../src/store/redis/store.js';
import type { Store } from '../../src/store/store.js';
import { createResponseCache } from '../../src/upstream/cache/response-cache.js';
import { createHttp } from '../../src/upstream/http/http.js';
import type { ProjectClient } from '../../src/upstream/project/client.js';
import { createProjectClient } from '../../src/upstream/project/rest.js';
import type { UpstreamOptions } from '../../src/upstream/read/request.js';
import { cleanUpAfterTests } from '../support/clean-up.js';
import type { TestRedis } from '../support/redis.js';
import { eventually, unlimited } from './harness.js';

/** A client of the project interface as an instance of its own has it, with nothing in common but Redis. */
export interface Instance {
  readonly project: ProjectClient;
  readonly store: Store;
}

export interface InstanceOptions extends Partial<UpstreamOptions> {
  /** By which it reckons the age of answers, where it is not the machine's. */
  readonly clock?: Clock;
}

export async function startInstance(
  redis: Pick<TestRedis, 'url'>,
  sandbox: Sandbox,
  own: InstanceOptions = {},
): Promise<Instance> {
  const log = createLog({ level: 'silent', secrets: [] });
  const store = openRedisStore({ url: redis.url, clock: realClock, log });
  const http = createHttp();
  cleanUpAfterTests(async () => {
    await store.close();
    await http.close();
  });
  await isUp(store);
  const project = createProjectClient({
    baseUrl: sandbox.projectUrl,
    key: sandbox.projectKey,
    keyOwner: 'gateway',
    http,
    cache: createResponseCache({ maxBytes: 64 * 1024 * 1024 }),
    store,
    rateLimit: unlimited,
    clock: realClock,
    log,
    random: () => 0.5,
    timeoutMs: 10_000,
    maxWaitMs: 5_000,
    ...own,
  });
  return { project, store };
}

export function isUp({ connection }: Store, expected = true): Promise<unknown> {
  return eventually(() => {
    if (connection?.isUp !== expected) throw new Error(`Redis should be ${expected ? 'there' : 'away'}`);
  });
}

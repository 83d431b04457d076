import { execute, parse } from 'graphql';
import type { ManualClock } from '../src/clock.js';
import { schema } from '../src/graph/schema.js';
import { createFeeds } from '../src/live/feeds/feeds.js';
import { createLog } from '../src/log.js';
import { unsharedStore } from '../src/store/memory.js';
import { Tenant, UnifyContext } from '../src/unify/context.js';
import { createResponseCache } from '../src/upstream/cache/response-cache.js';
import { createCatalogueClient } from '../src/upstream/catalogue/rest.js';
import { createProjectClient } from '../src/upstream/project/rest.js';
import { newCostMeter, type ReadScope } from '../src/upstream/read/read.js';
import type { Look } from './dashboards.js';
import { type RecordedRead, recording } from './recorded-reads.js';
import type { SimulatedUpstream } from './simulated-upstream.js';

const dashboard = parse(`{
  networks { networkId name sensorCount }
  sensors(first: 40) { nodes { id stationCode status lastSeenAt location { latitude longitude } } }
  healthy: sensors(first: 15) { nodes { id latestHealthReport { timestamp batteryVolts temperatureC } } }
  triggers(first: 50) { nodes { id startTime status pgaHorizontal sensor { stationCode firmwareVersion } } }
  events(first: 20) { nodes { id originTime magnitude place } }
}`);

/** A dashboard in front of one gateway, asked as a client would, or as often as 60,000 clients can in a minute or two. */
export interface Dashboard {
  /** The operation itself. Gives the reads that it made of upstream's answers. */
  look(): Promise<readonly RecordedRead[]>;
  /** The same reads again, as the same operation makes them, without the graph around them. */
  glance(reads: readonly RecordedRead[]): Promise<Look>;
}

export function openDashboard(clock: ManualClock, { http, keys }: SimulatedUpstream): Dashboard {
  const log = createLog({ level: 'silent', secrets: [] });
  const shared = {
    keyOwner: 'gateway' as const,
    http,
    cache: createResponseCache({ maxBytes: 64 * 1024 * 1024 }),
    store: unsharedStore,
    clock,
    log,
    random: Math.random,
    timeoutMs: 10_000,
    maxWaitMs: 5_000,
    baseUrl: 'http://simulated',
  };
  let current: RecordedRead[] = [];
  const note = (read: RecordedRead) => current.push(read);
  const limits = { perMinute: 60, burst: 20 };
  const project = createProjectClient({
    ...shared,
    key: keys.project,
    rateLimit: { ...limits, perDay: null },
  });
  const catalogue = createCatalogueClient({
    ...shared,
    key: keys.catalogue,
    rateLimit: { ...limits, perDay: 10_000 },
  });
  const tenant = new Tenant({
    project: recording(project, note),
    catalogue: recording(catalogue, note),
    clock,
    log,
    signal: new AbortController().signal,
  });
  const settings = {
    triggerPollIntervalMs: 5_000,
    triggerLookbackS: 600,
    eventPollIntervalMs: 10_000,
    sensorPollIntervalMs: 30_000,
  };
  const feeds = createFeeds({
    changes: () => null,
    connection: null,
    tenant,
    settings,
    random: Math.random,
  });
  return { look, glance };

  async function look() {
    current = [];
    const reads = current;
    const unify = new UnifyContext(tenant, scopeOfClient());
    const contextValue = { unify, gateway: { version: 'bench', sandbox: false }, feeds };
    await execute({ schema, document: dashboard, contextValue });
    return reads;
  }

  async function glance(reads: readonly RecordedRead[]): Promise<Look> {
    const scope = scopeOfClient();
    const results = await Promise.allSettled(reads.map(({ again }) => again(scope)));
    const nowMs = clock.now();
    const age = (name: string) => {
      const ages = results.flatMap((result, index) => {
        if (result.status !== 'fulfilled' || !result.value || reads[index]?.name !== name) return [];
        return (nowMs - result.value.readAtMs) / 1000;
      });
      return ages.length === 0 ? null : Math.max(...ages);
    };
    const failed = results.filter(({ status }) => status === 'rejected').length;
    return {
      answered: failed === 0 ? 'whole' : failed < results.length ? 'in part' : 'not',
      ages: { triggers: age('triggers'), sensors: age('sensors'), events: age('events') },
    };
  }
}

function scopeOfClient(): ReadScope {
  const { signal } = new AbortController();
  return { signal, priority: 'query', operationKey: {}, meter: newCostMeter() };
}

import { Gauge, Registry } from 'prom-client';
import type { MetricsReport } from '../server/ops/merged-metrics.js';
import type { Hub } from '../store/hub/hub.js';

/** Metrics of the primary, added to those of its workers: its memory and its cached bodies. */
export async function primaryReport(hub: Pick<Hub, 'cachedBytes'> | null): Promise<MetricsReport> {
  const registry = new Registry();
  const registers = [registry];
  const memory = new Gauge({
    name: 'seisgraph_memory_bytes',
    help: 'Memory of the gateway.',
    labelNames: ['kind'],
    registers,
  });
  for (const [kind, bytes] of Object.entries(process.memoryUsage())) memory.set({ kind }, bytes);
  const cached = new Gauge({
    name: 'seisgraph_cache_bytes',
    help: 'Bytes of what is cached, as estimated.',
    registers,
  });
  cached.set(hub?.cachedBytes ?? 0);
  return { metrics: await registry.getMetricsAsJSON(), askedAtMs: {} };
}

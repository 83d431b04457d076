import { Counter, Gauge, Registry } from 'prom-client';
import type { Log } from '../log.js';
import type { MetricsReport } from '../server/ops/merged-metrics.js';
import type { Hub } from '../store/hub/hub.js';

/** Metrics of the primary, added to those of its workers: its memory, its cached bodies and its log. */
export async function primaryReport(
  hub: Pick<Hub, 'cachedBytes'> | null,
  { output }: Pick<Log, 'output'>,
): Promise<MetricsReport> {
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
  const dropped = new Counter({
    name: 'seisgraph_log_lines_dropped_total',
    help: 'Lines of the log that nothing took in time.',
    registers,
  });
  dropped.inc(output.droppedLines());
  return { metrics: await registry.getMetricsAsJSON(), askedAtMs: {} };
}

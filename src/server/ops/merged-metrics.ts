import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

export type MetricJson = MetricObjectWithValues<MetricValue<string>>;

/** What one process counts. It survives a structured clone. */
export interface MetricsReport {
  readonly metrics: readonly MetricJson[];
  /** When each interface was last asked: of several processes, the last to ask knows whether it is up. */
  readonly askedAtMs: Readonly<Record<string, number>>;
}

const interfaceUp = 'seisgraph_interface_up';

/** Prometheus text of all processes together: what is counted is added up, what is looked at as its gauge says. */
export function mergedText(reports: readonly MetricsReport[]): Promise<string> {
  return aggregated(reports.map((report) => ofLastToAsk(report, reports))).metrics();
}

/**
 * What stays of processes that have ended: what they have counted. Without it a counter would go back, and that means to
 * Prometheus that it began at nothing again.
 */
export async function countsOf(reports: readonly MetricsReport[]): Promise<MetricsReport> {
  const metrics = await aggregated(reports.map((report) => report.metrics)).getMetricsAsJSON();
  return { metrics: metrics.filter(({ type }) => isCount(String(type))), askedAtMs: {} };
}

export const mergedContentType = AggregatorRegistry.PROMETHEUS_CONTENT_TYPE;

function aggregated(metrics: readonly (readonly MetricJson[])[]) {
  return AggregatorRegistry.aggregate(metrics.map((one) => [...one]));
}

const isCount = (type: string) => type === 'counter' || type === 'histogram';

function ofLastToAsk(report: MetricsReport, all: readonly MetricsReport[]): readonly MetricJson[] {
  return report.metrics.map((metric) => {
    if (metric.name !== interfaceUp) return metric;
    const values = metric.values.filter(({ labels }) => {
      const source = String(labels.interface);
      const askedAtMs = report.askedAtMs[source] ?? 0;
      return all.every((other) => (other.askedAtMs[source] ?? 0) <= askedAtMs);
    });
    return { ...metric, values };
  });
}

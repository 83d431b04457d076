import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

export type MetricJson = MetricObjectWithValues<MetricValue<string>>;

/** Metrics of one process. They survive a structured clone. */
export interface MetricsReport {
  readonly metrics: readonly MetricJson[];
  /** Time of the last request per interface; the most recent one decides whether the interface is up. */
  readonly askedAtMs: Readonly<Record<string, number>>;
}

const interfaceUp = 'seisgraph_interface_up';

/** Prometheus text of all processes: counters are added up, gauges are merged by their `aggregator`. */
export function mergedText(reports: readonly MetricsReport[]): Promise<string> {
  return aggregated(reports.map((report) => ofLastToAsk(report, reports))).metrics();
}

/**
 * Counters and histograms of processes that have ended, added up. Without them a sum would decrease, which Prometheus
 * takes for a counter reset.
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

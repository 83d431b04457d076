import type { ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, type CounterConfiguration, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../clock.js';
import type { FeedStatus } from '../live/feed.js';
import type { Connection } from '../store/store.js';
import type { UpstreamStatus } from '../upstream/read.js';
import type { RequestEnd, SentRequest } from '../upstream/request.js';
import type { OnFinished } from './operation.js';

/** What is counted as it happens. */
export interface Metrics {
  readonly operationFinished: OnFinished;
  readonly upstreamRequest: (request: SentRequest) => (end: RequestEnd) => void;
  /** Prometheus text, with what `sources` says at this moment. */
  text(sources: MetricSources): Promise<string>;
  readonly contentType: string;
  close(): void;
}

/** What is looked at when someone asks. */
export interface MetricSources {
  /** With the gateway's own keys; in `passthrough` there are none, and nobody's key shows. */
  readonly interfaces: readonly UpstreamStatus[];
  readonly cache: { readonly bytes: number; readonly entries: number };
  readonly feeds: readonly FeedStatus[];
  /** Null where nothing is shared. */
  readonly redis: Pick<Connection, 'isUp'> | null;
  /** Instances that share, as last seen. */
  readonly instances: number;
  readonly sockets: number;
  /** Pairs of keys kept apart in `passthrough`. */
  readonly tenants: number;
}

const secondsBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Every label has a bounded set of values: clients choose the names of operations, so that only those of the ready
 * operations are told apart.
 */
export function createMetrics(knownOperations: ReadonlySet<string>, clock: Clock): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const operations = new Counter({
    name: 'seisgraph_operations_total',
    help: 'Operations by name, kind and outcome: ok, or the code of an error.',
    labelNames: ['operation', 'kind', 'outcome'],
    registers,
  });
  const operationSeconds = new Histogram({
    name: 'seisgraph_operation_duration_seconds',
    help: 'Time that queries took; subscriptions last as long as their clients want.',
    labelNames: ['operation'],
    buckets: secondsBuckets,
    registers,
  });
  const upstreamRequests = new Counter({
    name: 'seisgraph_upstream_requests_total',
    help: 'Requests sent to an interface, by status (none: no answer) and priority.',
    labelNames: ['interface', 'status', 'priority'],
    registers,
  });
  const upstreamSeconds = new Histogram({
    name: 'seisgraph_upstream_request_duration_seconds',
    help: 'Time that an interface took to answer.',
    labelNames: ['interface', 'endpoint'],
    buckets: secondsBuckets,
    registers,
  });
  const gauge = metricsIn(registry, Gauge, (metric, labels, value) => metric.set(labels, value));
  // Counted elsewhere since the start, and looked at here.
  const counter = metricsIn(registry, Counter, (metric, labels, value) => {
    metric.remove(labels);
    metric.inc(labels, value);
  });
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();

  function nameOf(name: string | null): string {
    if (name === null) return 'anonymous';
    return knownOperations.has(name) ? name : 'other';
  }

  function look({ interfaces, cache, feeds, redis, instances, sockets, tenants }: MetricSources): void {
    const nowMs = clock.now();
    for (const {
      source,
      reachable,
      cacheHitCount,
      rateLimit,
      waiting,
      heldUntilMs,
      leftAloneUntilMs,
    } of interfaces) {
      const labels = { interface: source };
      if (reachable !== null)
        gauge('interface_up', 'Whether an interface answered when last asked.', labels, reachable);
      counter('cache_hits_total', 'Reads answered from the cache.', labels, cacheHitCount);
      gauge('allowance_remaining', 'Requests that could be sent at once now.', labels, rateLimit.remaining);
      if (rateLimit.remainingToday !== null) {
        gauge(
          'allowance_remaining_today',
          "Requests left of the day's allowance.",
          labels,
          rateLimit.remainingToday,
        );
      }
      gauge(
        'held_seconds',
        'For how long upstream asked not to be asked.',
        labels,
        secondsUntil(heldUntilMs, nowMs),
      );
      gauge(
        'left_alone_seconds',
        'For how long a failing interface is left alone.',
        labels,
        secondsUntil(leftAloneUntilMs, nowMs),
      );
      for (const [priority, count] of Object.entries(waiting)) {
        gauge('waiting_reads', 'Reads in the waiting line.', { ...labels, priority }, count);
      }
    }
    gauge('cache_bytes', 'Bytes of what is cached, as estimated.', {}, cache.bytes);
    gauge('cache_entries', 'Answers that are cached.', {}, cache.entries);
    for (const { name: feed, isActive, subscriberCount, lagMs, polls, failures } of feeds) {
      gauge('feed_active', 'Whether upstream is polled for a feed.', { feed }, isActive);
      gauge('feed_subscribers', 'Subscriptions that listen to a feed.', { feed }, subscriberCount);
      gauge('feed_lag_seconds', 'Since upstream was last read to the end.', { feed }, (lagMs ?? 0) / 1000);
      counter('feed_polls_total', 'Polls of a feed.', { feed }, polls);
      counter('feed_poll_failures_total', 'Polls that failed.', { feed }, failures);
    }
    if (redis) {
      gauge('redis_up', 'Whether Redis can be reached.', {}, redis.isUp);
      gauge('instances', 'Instances that share Redis, as last seen.', {}, instances);
    }
    gauge('websockets', 'Open WebSockets.', {}, sockets);
    gauge('tenants', 'Pairs of keys that are kept apart.', {}, tenants);
    for (const quantile of [50, 99] as const) {
      const labels = { quantile: `0.${quantile}` };
      gauge(
        'event_loop_delay_seconds',
        'Delay of the event loop since the last look.',
        labels,
        delay.percentile(quantile) / 1e9,
      );
    }
    delay.reset();
    for (const [kind, bytes] of Object.entries(process.memoryUsage())) {
      gauge('memory_bytes', 'Memory of the process.', { kind }, bytes);
    }
  }

  return {
    operationFinished({ name, kind, errorCodes }, { durationMs }) {
      const operation = nameOf(name);
      const [outcome = 'ok'] = [...errorCodes].sort();
      operations.inc({ operation, kind: kind ?? 'none', outcome });
      if (kind !== 'subscription') operationSeconds.observe({ operation }, durationMs / 1000);
    },
    upstreamRequest({ source, endpoint, priority }) {
      const startedAtMs = clock.now();
      return ({ status }) => {
        upstreamRequests.inc({ interface: source, status: status ?? 'none', priority });
        upstreamSeconds.observe({ interface: source, endpoint }, (clock.now() - startedAtMs) / 1000);
      };
    },
    text(sources) {
      look(sources);
      return registry.metrics();
    },
    contentType: registry.contentType,
    close: () => delay.disable(),
  };
}

/** `GET /metrics`. */
export async function sendMetrics(
  response: ServerResponse,
  metrics: Metrics,
  sources: MetricSources,
): Promise<void> {
  const text = await metrics.text(sources);
  response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
  response.end(text);
}

/** Sets what is looked at, made on first use. */
function metricsIn<Metric extends Gauge | Counter>(
  registry: Registry,
  Kind: new (configuration: CounterConfiguration<string>) => Metric,
  set: (metric: Metric, labels: Record<string, string>, value: number) => void,
) {
  const made = new Map<string, Metric>();
  return (name: string, help: string, labels: Record<string, string>, value: number | boolean): void => {
    let metric = made.get(name);
    if (!metric) {
      const labelNames = Object.keys(labels);
      metric = new Kind({ name: `seisgraph_${name}`, help, labelNames, registers: [registry] });
      made.set(name, metric);
    }
    set(metric, labels, Number(value));
  };
}

const secondsUntil = (atMs: number | null, nowMs: number) =>
  atMs === null ? 0 : Math.max(0, atMs - nowMs) / 1000;

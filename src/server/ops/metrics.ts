import type { ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Aggregator, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock, ForwardMs } from '../../clock.js';
import type { FeedStatus } from '../../live/feeds/feed.js';
import type { Connection } from '../../store/store.js';
import type { UpstreamStatus } from '../../upstream/read/read.js';
import type { RequestEnd, SentRequest } from '../../upstream/read/request.js';
import type { OnFinished } from '../execution/operation.js';
import { type MetricsReport, mergedContentType, mergedText } from './merged-metrics.js';

/** The metrics of one process. */
export interface Metrics {
  readonly operationFinished: OnFinished;
  readonly upstreamRequest: (request: SentRequest) => (end: RequestEnd) => void;
  /** All metrics, with the current values of `sources`. */
  report(sources: MetricSources): Promise<MetricsReport>;
  close(): void;
}

/** Values that are read when the metrics are requested. */
export interface MetricSources {
  /** Status with the gateway's own keys; empty in `passthrough`, so that no client's key shows. */
  readonly interfaces: readonly UpstreamStatus[];
  readonly cache: { readonly bytes: number; readonly entries: number };
  /** Hits of the answer cache. */
  readonly cachedAnswers: number;
  readonly feeds: readonly FeedStatus[];
  /** Null without Redis. */
  readonly redis: Pick<Connection, 'isUp'> | null;
  /** Instances that share Redis, as last seen. */
  readonly instances: number;
  readonly sockets: number;
  /** Tenants in `passthrough`, one for each pair of keys. */
  readonly tenants: number;
  readonly droppedLogLines: number;
}

// Node measures the time between two ticks of a timer: the interval is subtracted to get the delay.
const delayResolutionMs = 5;

const secondsBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Every label has a bounded set of values. Clients choose operation names, so only those of `schema/operations/` are
 * labels; all others are `other`.
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
  const gauge = gaugesIn(registry);
  const counter = countersIn(registry);
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delay.enable();

  function operationName(name: string | null): string {
    if (name === null) return 'anonymous';
    return knownOperations.has(name) ? name : 'other';
  }

  function update({
    interfaces,
    cache,
    cachedAnswers,
    feeds,
    redis,
    instances,
    sockets,
    tenants,
    droppedLogLines,
  }: MetricSources): void {
    const nowMs = clock.now();
    for (const {
      source,
      reachable,
      cacheHitCount,
      rateLimit,
      waiting,
      retryAfterUntilMs,
      circuitOpenUntilMs,
    } of interfaces) {
      const labels = { interface: source };
      if (reachable !== null) {
        gauge('interface_up', 'Whether an interface answered when last asked.', labels, reachable, 'max');
      }
      counter('cache_hits_total', 'Reads answered from the cache.', labels, cacheHitCount);
      // `min` over the processes: an idle process learns late of a shared budget that others have spent.
      const { remaining, remainingToday } = rateLimit;
      gauge('rate_limit_remaining', 'Requests that could be sent at once now.', labels, remaining, 'min');
      if (remainingToday !== null) {
        const help = 'Requests left of the daily quota.';
        gauge('daily_quota_remaining', help, labels, remainingToday, 'min');
      }
      const retryAfterS = secondsUntil(retryAfterUntilMs, nowMs);
      gauge(
        'retry_after_seconds',
        'How long upstream asked to wait before the next request.',
        labels,
        retryAfterS,
        'max',
      );
      const circuitOpenS = secondsUntil(circuitOpenUntilMs, nowMs);
      gauge(
        'circuit_open_seconds',
        'How long the circuit breaker of a failing interface stays open.',
        labels,
        circuitOpenS,
        'max',
      );
      for (const [priority, count] of Object.entries(waiting)) {
        gauge('queued_requests', 'Requests in the queue.', { ...labels, priority }, count, 'sum');
      }
    }
    gauge('cache_bytes', 'Bytes of what is cached, as estimated.', {}, cache.bytes, 'sum');
    gauge('cache_entries', 'Answers that are cached.', {}, cache.entries, 'sum');
    counter(
      'cached_answers_total',
      'Operations answered with a whole answer from the cache.',
      {},
      cachedAnswers,
    );
    for (const { name: feed, isActive, subscriberCount, lagMs, polls, failures } of feeds) {
      const lagS = (lagMs ?? 0) / 1000;
      gauge('feed_active', 'Whether upstream is polled for a feed.', { feed }, isActive, 'max');
      gauge('feed_subscribers', 'Subscriptions that listen to a feed.', { feed }, subscriberCount, 'sum');
      gauge('feed_lag_seconds', 'Since upstream was last read to the end.', { feed }, lagS, 'max');
      counter('feed_polls_total', 'Polls of a feed.', { feed }, polls);
      counter('feed_poll_failures_total', 'Polls that failed.', { feed }, failures);
    }
    if (redis) {
      gauge('redis_up', 'Whether Redis can be reached.', {}, redis.isUp, 'min');
      gauge('instances', 'Instances that share Redis, as last seen.', {}, instances, 'max');
    }
    gauge('processes', 'Processes that serve requests.', {}, 1, 'sum');
    gauge('websockets', 'Open WebSockets.', {}, sockets, 'sum');
    gauge('tenants', 'Pairs of keys that are kept apart.', {}, tenants, 'max');
    counter('log_lines_dropped_total', 'Lines of the log that nothing took in time.', {}, droppedLogLines);
    for (const quantile of [50, 99] as const) {
      const labels = { quantile: `0.${quantile}` };
      const delayS = Math.max(0, delay.percentile(quantile) / 1e9 - delayResolutionMs / 1000);
      gauge(
        'event_loop_delay_seconds',
        'Delay of the event loop since the last look.',
        labels,
        delayS,
        'max',
      );
    }
    delay.reset();
    for (const [kind, bytes] of Object.entries(process.memoryUsage())) {
      gauge('memory_bytes', 'Memory of the gateway.', { kind }, bytes, 'sum');
    }
  }

  return {
    operationFinished({ name, kind, errorCodes }, { durationMs }) {
      const operation = operationName(name);
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
    async report(sources) {
      update(sources);
      const askedAtMs = Object.fromEntries(
        sources.interfaces.map(({ source, reachableAsOfMs }) => [source, reachableAsOfMs ?? 0]),
      );
      return { metrics: await registry.getMetricsAsJSON(), askedAtMs };
    },
    close: () => delay.disable(),
  };
}

/** `GET /metrics`: merged over all processes behind the port. */
export async function sendMetrics(
  response: ServerResponse,
  reports: Promise<readonly MetricsReport[]>,
): Promise<void> {
  const text = await mergedText(await reports);
  response.writeHead(200, { 'content-type': mergedContentType, 'cache-control': 'no-store' });
  response.end(text);
}

type Labels = Readonly<Record<string, string>>;

/** Sets gauges, created on first use; `aggregator` merges the values of several processes. */
function gaugesIn(registry: Registry) {
  const known = new Map<string, Gauge>();
  return (
    name: string,
    help: string,
    labels: Labels,
    value: number | boolean,
    aggregator: Aggregator,
  ): void => {
    let gauge = known.get(name);
    if (!gauge) {
      const labelNames = Object.keys(labels);
      gauge = new Gauge({ name: nameOf(name), help, labelNames, aggregator, registers: [registry] });
      known.set(name, gauge);
    }
    gauge.set(labels, Number(value));
  };
}

/** Sets counters to totals that other parts have counted since the start; created on first use. */
function countersIn(registry: Registry) {
  const known = new Map<string, Counter>();
  return (name: string, help: string, labels: Labels, value: number): void => {
    let counter = known.get(name);
    if (!counter) {
      counter = new Counter({
        name: nameOf(name),
        help,
        labelNames: Object.keys(labels),
        registers: [registry],
      });
      known.set(name, counter);
    }
    counter.remove(labels);
    counter.inc(labels, value);
  };
}

const nameOf = (name: string) => `seisgraph_${name}`;

const secondsUntil = (atMs: ForwardMs | null, nowMs: ForwardMs) =>
  atMs === null ? 0 : Math.max(0, atMs - nowMs) / 1000;

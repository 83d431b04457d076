import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Plugin } from 'graphql-yoga';
import type { Clock } from '../clock.js';
import type { RequestEnd, SentRequest } from '../upstream/request.js';
import type { OnFinished, Operation } from './operation.js';
import type { SpanExporter } from './otlp.js';

/** Client request → execution → upstream request, as spans. */
export interface Tracing {
  readonly plugin: Plugin<{ operation: Operation }>;
  readonly operationFinished: OnFinished;
  readonly upstreamRequest: (request: SentRequest) => (end: RequestEnd) => void;
}

interface Place {
  readonly traceId: string;
  readonly spanId: string;
}

export function createTracing(exporter: SpanExporter, clock: Clock): Tracing {
  // A request that several operations share belongs to the one that started it.
  const current = new AsyncLocalStorage<Place>();
  const roots = new WeakMap<Operation, Place & { readonly parentSpanId: string | null }>();

  function rootOf(operation: Operation) {
    const known = roots.get(operation);
    if (known) return known;
    const { traceId = newId(16), parentSpanId = null } = callerOf(operation.traceparent);
    const root = { traceId, parentSpanId, spanId: newId(8) };
    roots.set(operation, root);
    return root;
  }

  return {
    plugin: {
      onExecute({ args, executeFn, setExecuteFn }) {
        const root = rootOf(args.contextValue.operation);
        setExecuteFn(async (execution) => {
          const place = { traceId: root.traceId, spanId: newId(8) };
          const startMs = clock.now();
          try {
            return await current.run(place, () => executeFn(execution));
          } finally {
            exporter.add({
              ...place,
              parentSpanId: root.spanId,
              name: 'execute',
              kind: 'internal',
              startMs,
              endMs: clock.now(),
              attributes: {},
              failed: false,
            });
          }
        });
      },
    },
    operationFinished(operation, { durationMs, status }) {
      const { name, kind, meter, errorCodes, id } = operation;
      const endMs = clock.now();
      exporter.add({
        ...rootOf(operation),
        name: [kind ?? 'request', name]
          .filter((part) => part !== null)
          .join(' ')
          .slice(0, 100),
        kind: 'server',
        startMs: endMs - durationMs,
        endMs,
        attributes: {
          'graphql.operation.type': kind,
          'graphql.operation.name': name?.slice(0, 100) ?? null,
          'http.response.status_code': status,
          'seisgraph.request_id': id,
          'seisgraph.upstream_requests': meter.requests,
          'seisgraph.errors': errorCodes.size > 0 ? [...errorCodes].join() : null,
        },
        failed: errorCodes.size > 0,
      });
    },
    upstreamRequest({ source, endpoint, priority }) {
      const parent = current.getStore();
      const startMs = clock.now();
      return ({ status }) => {
        exporter.add({
          traceId: parent?.traceId ?? newId(16),
          spanId: newId(8),
          parentSpanId: parent?.spanId ?? null,
          name: `${source} ${endpoint}`,
          kind: 'client',
          startMs,
          endMs: clock.now(),
          attributes: { 'http.response.status_code': status, 'seisgraph.priority': priority },
          failed: status === null || status >= 500,
        });
      };
    },
  };
}

/** W3C trace context: the trace that the client's request is part of. */
function callerOf(traceparent: string | null): { traceId?: string; parentSpanId?: string } {
  const [, traceId, parentSpanId] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(traceparent ?? '') ?? [];
  return traceId && parentSpanId ? { traceId, parentSpanId } : {};
}

const newId = (bytes: number) => randomBytes(bytes).toString('hex');

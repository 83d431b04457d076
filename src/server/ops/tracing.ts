import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Plugin } from 'graphql-yoga';
import type { Clock } from '../../clock.js';
import type { InGroup } from '../../graph/resolver-groups.js';
import type { RequestEnd, SentRequest } from '../../upstream/read/request.js';
import type { OnFinished, Operation } from '../execution/operation.js';
import type { SpanExporter } from './otlp.js';

/** Client request → execution → resolver group → upstream request, as spans. */
export interface Tracing {
  readonly plugin: Plugin<{ operation: Operation }>;
  readonly inGroup: (operation: Operation) => InGroup;
  readonly operationFinished: OnFinished;
  readonly upstreamRequest: (request: SentRequest) => (end: RequestEnd) => void;
}

interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

/** An execution with its resolver groups: all resolvers of one field that reads upstream form a single span. */
interface Execution extends SpanContext {
  readonly groups: Map<
    string,
    { readonly spanId: string; readonly startMs: number; endMs: number; failed: boolean }
  >;
}

export function createTracing(exporter: SpanExporter, clock: Clock): Tracing {
  // A coalesced request belongs to the operation that started it.
  const current = new AsyncLocalStorage<SpanContext>();
  const roots = new WeakMap<Operation, SpanContext & { readonly parentSpanId: string | null }>();

  const executions = new WeakMap<Operation, Execution>();

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
          const span: Execution = { traceId: root.traceId, spanId: newId(8), groups: new Map() };
          executions.set(args.contextValue.operation, span);
          const startMs = clock.now();
          try {
            return await current.run(span, () => executeFn(execution));
          } finally {
            const { traceId, spanId } = span;
            const common = { traceId, kind: 'internal', attributes: {} } as const;
            const end = { endMs: clock.now(), failed: false };
            exporter.add({ ...common, ...end, spanId, parentSpanId: root.spanId, name: 'execute', startMs });
            for (const [name, group] of span.groups) {
              exporter.add({ ...common, ...group, parentSpanId: spanId, name });
            }
          }
        });
      },
    },
    inGroup: (operation) => (name, resolve) => {
      const execution = executions.get(operation);
      if (!execution) return resolve();
      const startMs = clock.now();
      const group = execution.groups.get(name) ?? {
        spanId: newId(8),
        startMs,
        endMs: startMs,
        failed: false,
      };
      execution.groups.set(name, group);
      const end = () => {
        group.endMs = clock.now();
      };
      const fail = () => {
        end();
        group.failed = true;
      };
      const result = current.run({ traceId: execution.traceId, spanId: group.spanId }, resolve);
      if (result instanceof Promise) result.then(end, fail);
      return result;
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

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { ForwardMs } from '../../clock.js';
import type { InGroup } from '../../graph/resolver-groups.js';
import type { RequestEnd, SentRequest } from '../../upstream/read/request.js';
import type { OnFinished, Operation } from '../execution/operation.js';
import { openSpanExport, type SpanExportOptions } from './span-export.js';

/** Client request → execution → resolver group → upstream request, as spans. */
export interface Tracing {
  readonly plugin: Plugin<{ operation: Operation }>;
  readonly inGroup: (operation: Operation) => InGroup;
  readonly operationFinished: OnFinished;
  readonly upstreamRequest: (request: SentRequest) => (end: RequestEnd) => void;
  /** Sends the remaining spans. */
  readonly close: () => Promise<void>;
}

/** A span that has begun. Attributes hold no key, address or position. */
interface OpenSpan {
  /** Parent of the spans within it. */
  readonly context: Context;
  end(end?: { readonly atMs?: ForwardMs; readonly failed?: boolean; readonly attributes?: Attributes }): void;
}

/** All resolvers of one field that reads upstream form a single span, from the first that starts to the last that ends. */
interface Group {
  readonly span: OpenSpan;
  atMs: ForwardMs;
  failed: boolean;
}

interface Execution {
  readonly context: Context;
  readonly groups: Map<string, Group>;
  /** Ends the spans of an execution in parts; null for all others. */
  readonly end: (() => void) | null;
}

/** Imported only where traces are wanted: without them the SDK is never loaded. */
export async function openTracing(options: SpanExportOptions): Promise<Tracing> {
  const { clock } = options;
  const { tracer, close } = await openSpanExport(options);
  const propagator = new W3CTraceContextPropagator();
  // A coalesced request belongs to the operation that started it.
  const current = new AsyncLocalStorage<Context>();
  const roots = new WeakMap<Operation, OpenSpan>();
  const executions = new WeakMap<Operation, Execution>();

  function begin(
    name: string,
    parent: Context,
    kind = SpanKind.INTERNAL,
    startedAtMs = clock.now(),
  ): OpenSpan {
    const startTime = clock.wallMs(startedAtMs);
    const span = tracer.startSpan(name, { kind, startTime }, parent);
    return {
      context: trace.setSpan(parent, span),
      end({ atMs = clock.now(), failed = false, attributes = {} } = {}) {
        span.setAttributes(attributes);
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        // Dated once, and measured from there: the wall clock may be set meanwhile.
        span.end(startTime + atMs - startedAtMs);
      },
    };
  }

  function rootOf(operation: Operation): OpenSpan {
    const known = roots.get(operation);
    if (known) return known;
    const { name, kind, headers = {}, startedAtMs } = operation;
    const title = [kind ?? 'request', ...(name === null ? [] : [name])].join(' ').slice(0, 100);
    const caller = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const root = begin(title, caller, SpanKind.SERVER, startedAtMs);
    roots.set(operation, root);
    return root;
  }

  return {
    plugin: {
      onExecute({ args, executeFn, setExecuteFn }) {
        const { operation } = args.contextValue;
        const root = rootOf(operation);
        setExecuteFn(async (execution) => {
          const span = begin('execute', root.context);
          const groups = new Map<string, Group>();
          const end = () => {
            for (const group of groups.values()) group.span.end(group);
            span.end();
          };
          executions.set(operation, { context: span.context, groups, end: null });
          let result: unknown;
          try {
            result = await current.run(span.context, () => executeFn(execution));
            return result;
          } finally {
            // The parts of an answer are executed until the operation has finished.
            if (isAsyncIterable(result)) executions.set(operation, { context: span.context, groups, end });
            else end();
          }
        });
      },
    },
    inGroup: (operation) => (name, resolve) => {
      const execution = executions.get(operation);
      if (!execution) return resolve();
      const group = execution.groups.get(name) ?? {
        span: begin(name, execution.context),
        atMs: clock.now(),
        failed: false,
      };
      execution.groups.set(name, group);
      const end = () => {
        group.atMs = clock.now();
      };
      const fail = () => {
        end();
        group.failed = true;
      };
      const result = current.run(group.span.context, resolve);
      if (result instanceof Promise) result.then(end, fail);
      return result;
    },
    operationFinished(operation, { status }) {
      const { name, kind, meter, errorCodes, id } = operation;
      executions.get(operation)?.end?.();
      rootOf(operation).end({
        attributes: {
          'graphql.operation.type': kind ?? undefined,
          'graphql.operation.name': name?.slice(0, 100),
          'http.response.status_code': status ?? undefined,
          'seisgraph.request_id': id,
          'seisgraph.upstream_requests': meter.requests,
          'seisgraph.errors': errorCodes.size > 0 ? [...errorCodes].join() : undefined,
        },
        failed: errorCodes.size > 0,
      });
    },
    upstreamRequest({ source, endpoint, priority }) {
      const span = begin(`${source} ${endpoint}`, current.getStore() ?? ROOT_CONTEXT, SpanKind.CLIENT);
      return ({ status }) =>
        span.end({
          attributes: { 'http.response.status_code': status ?? undefined, 'seisgraph.priority': priority },
          failed: status === null || status >= 500,
        });
    },
    close,
  };
}

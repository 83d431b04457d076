import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute as executeInOrder,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import { createYoga, type GraphQLParams, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { LimitConfig } from '../../config/config.js';
import type { GatewayFacts, GraphContext } from '../../graph/context.js';
import { clientError } from '../../graph/errors/error-codes.js';
import { inputErrors } from '../../graph/errors/input-errors.js';
import { knownOperationTypes } from '../../graph/errors/operation-types.js';
import { incrementalDelivery } from '../../graph/incremental/plugin.js';
import type { ExecutionPart } from '../../graph/incremental/results.js';
import { costLimit } from '../../graph/limits/cost-limit.js';
import { queryLimits } from '../../graph/limits/limits.js';
import { sharedSubscriptions } from '../../graph/subscriptions/shared-subscriptions.js';
import type { Log } from '../../log.js';
import type { Maybe } from '../../maybe.js';
import { UnifyContext } from '../../unify/context.js';
import { idNames } from '../http/request/parameters.js';
import type { Tracing } from '../ops/tracing.js';
import { finishResult } from './finished-result.js';
import { withoutIntrospection } from './introspection.js';
import type { Operation } from './operation.js';
import { type PersistedOperations, persistedOperationsPlugin } from './persisted-operations.js';

export interface GraphQLOptions {
  readonly schema: GraphQLSchema;
  readonly limits: LimitConfig;
  readonly introspection: boolean;
  readonly persisted: PersistedOperations;
  readonly gateway: GatewayFacts;
  /** UPSTREAM_MAX_DEFERRED_WAIT_MS: longest wait of a read for a deferred part. */
  readonly maxDeferredWaitMs: number;
  /** Null without tracing. */
  readonly tracing: Pick<Tracing, 'plugin' | 'inGroup'> | null;
  readonly log: Log;
}

/**
 * Yoga with its plugins: the one pipeline that parses, validates and executes operations of every transport. Most
 * operations call its stages directly; rare HTTP requests go through the whole of Yoga.
 */
export interface GraphQLEngine {
  readonly yoga: YogaServerInstance<YogaContext, OperationContext>;
  readonly schema: GraphQLSchema;
  readonly persisted: PersistedOperations;
  readonly limits: LimitConfig;
  readonly log: Log;
  /** Parses and validates; short texts are cached. Throws a GraphQLError where the text cannot be parsed. */
  read(text: string): ReadDocument;
  contextOf(operation: Operation): OperationContext;
  /** In parts only for an operation that takes them. */
  execute(args: OperationArgs): Maybe<ExecutionResult | AsyncIterable<ExecutionPart>>;
  subscribe(args: OperationArgs): Maybe<ExecutionResult | AsyncIterable<ExecutionResult>>;
}

export interface ReadDocument {
  readonly document: DocumentNode;
  /** Validation errors; empty for a document that may be executed. */
  readonly errors: readonly GraphQLError[];
}

/** Context of resolvers and plugins; only plugins see `operation`. */
export interface OperationContext extends GraphContext {
  readonly operation: Operation;
}

export interface OperationArgs extends ExecutionArgs {
  readonly contextValue: OperationContext;
}

/** Context that the server passes to Yoga with a request. */
export interface YogaContext {
  readonly operation: Operation;
  /** The request's parameters, which the server has already read; throws where they are malformed. */
  readonly parameters: () => object;
}

export function createGraphQLEngine(options: GraphQLOptions): GraphQLEngine {
  const { schema, limits, introspection, persisted, gateway, maxDeferredWaitMs, tracing, log } = options;
  const documents = smallTexts<ReadDocument>();

  function contextOf(operation: Operation): OperationContext {
    const { client, meter, dependencies, demand, sink } = operation;
    const scope = {
      get signal() {
        return operation.signal;
      },
      priority: 'query',
      operationKey: operation,
      meter,
      ...(dependencies && { dependencies }),
      // It has no effect on a subscription: a feed polls for all its subscribers, and each change has its own scope.
      ...(demand && { demand }),
    } as const;
    const context: OperationContext = {
      operation,
      unify: new UnifyContext(client.tenant, scope),
      gateway,
      feeds: client.feeds,
      sink,
      inGroup: tracing?.inGroup(operation),
      // Loaders of its own: a read that the rest of the answer waits for must not wait for one that is deferred.
      forDeferred: operation.takesParts
        ? () => ({
            ...context,
            unify: new UnifyContext(client.tenant, { ...scope, maxWaitMs: maxDeferredWaitMs }),
          })
        : undefined,
    };
    return context;
  }

  const yoga = createYoga<YogaContext, OperationContext>({
    schema,
    context: ({ operation }) => contextOf(operation),
    maskedErrors: { errorMessage: 'Unexpected fault', maskError: (error) => clientError(error, log) },
    parserAndValidationCache: {
      documentCache: { get: (text) => documents.get(text)?.document, set: () => {} },
      errorCache: smallTexts(),
    },
    // The server has already read the body, within its own limit.
    maxRequestBodySize: false,
    batching: false,
    extraParamNames: [...idNames],
    logging: false,
    // The router does these for all routes.
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    plugins: [
      givenParameters(),
      persistedOperationsPlugin(persisted),
      queryLimits(limits),
      inputErrors(),
      knownOperationTypes(),
      ...(introspection ? [] : [withoutIntrospection()]),
      costLimit(limits.maxCost),
      incrementalDelivery(log),
      operationRecord(),
      streamErrors(),
      sharedSubscriptions(log),
      ...(tracing ? [tracing.plugin] : []),
    ],
  });
  // The functions are the same for every operation; all that differs is in the context.
  const { parse, validate, execute, subscribe } = yoga.getEnveloped({} as YogaContext);

  return {
    yoga,
    schema,
    persisted,
    limits,
    log,
    read(text) {
      const known = documents.get(text);
      if (known) return known;
      const document: DocumentNode = parse(text);
      const read = { document, errors: validate(schema, document) };
      documents.set(text, read);
      return read;
    },
    contextOf,
    execute,
    subscribe,
  };
}

function givenParameters(): Plugin<YogaContext, YogaContext> {
  return {
    onRequestParse({ serverContext, setRequestParser }) {
      setRequestParser(() => serverContext.parameters() as GraphQLParams);
    },
  };
}

/** Records the operation, and finishes Yoga's results. */
function operationRecord(): Plugin<OperationContext, YogaContext> {
  return {
    onParse:
      () =>
      ({ result, context }) => {
        if (result instanceof GraphQLError) result.extensions.code ??= 'GRAPHQL_PARSE_FAILED';
        if (!result || result instanceof Error || !context.operation) return;
        noteOperation(context.operation, result, context.params?.operationName);
      },
    onExecute({ args, setExecuteFn }) {
      const { operation, deferred } = args.contextValue;
      // Yoga's executor writes the fields of an object in the order in which they resolve, not in that of the selection. It
      // executes what comes in parts, which graphql-js 16 cannot.
      if (deferred) Object.assign(args, { signal: operation.signal });
      else setExecuteFn(executeInOrder);
    },
    onResultProcess({ result, setResult, serverContext: { operation } }) {
      if (Array.isArray(result) || Symbol.asyncIterator in result) return;
      setResult(finishResult(result as ExecutionResult, operation));
    },
  };
}

/** Records the errors that a stream brings or ends with. */
function streamErrors(): Plugin<OperationContext, YogaContext> {
  return {
    onSubscribe: ({ args }) => ({
      onSubscribeResult: () => ({
        onNext({ result }) {
          const { errors = [] } = result as ExecutionResult;
          for (const { extensions } of errors) args.contextValue.operation.addErrorCode(extensions.code);
        },
      }),
    }),
  };
}

/** Notes name and kind of the operation that will be run, for the log and the metrics. */
export function noteOperation(
  operation: Operation,
  document: DocumentNode,
  operationName: string | null | undefined,
): void {
  const ast = getOperationAST(document, operationName);
  operation.name = ast?.name?.value ?? null;
  operation.kind = ast?.operation ?? null;
}

// Bounds the memory of the document cache: long texts are rarely sent twice, and 500 of them would be large.
function smallTexts<T extends object>() {
  const longest = 8_192;
  const cache = new LRUCache<string, T>({ max: 500 });
  return {
    get: (text: string) => cache.get(text),
    set(text: string, value: T) {
      if (text.length <= longest) cache.set(text, value);
    },
  };
}

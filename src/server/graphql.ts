import { type ExecutionResult, GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { LimitConfig } from '../config.js';
import type { GatewayFacts, GraphContext } from '../graph/context.js';
import { costLimit } from '../graph/cost.js';
import { clientError } from '../graph/error-codes.js';
import { inputErrors } from '../graph/input-errors.js';
import { queryLimits } from '../graph/limits.js';
import { sharedSubscriptions } from '../graph/shared-subscriptions.js';
import type { Log } from '../log.js';
import { UnifyContext } from '../unify/context.js';
import { getParameters } from './get-parameters.js';
import { withoutIntrospection } from './introspection.js';
import { finishResult, type Operation, withoutJson } from './operation.js';
import { type PersistedOperations, persistedOperationsPlugin } from './persisted-operations.js';
import type { Tracing } from './tracing.js';

export interface GraphQLOptions {
  readonly schema: GraphQLSchema;
  readonly limits: LimitConfig;
  readonly introspection: boolean;
  readonly persisted: PersistedOperations;
  readonly gateway: GatewayFacts;
  /** Null without tracing. */
  readonly tracing: Pick<Tracing, 'plugin' | 'inGroup'> | null;
  readonly log: Log;
}

export interface OperationHolder {
  readonly operation: Operation;
}

/** The one way an operation is parsed, checked and run, whatever it came by. */
export type GraphQLEngine = YogaServerInstance<OperationHolder, GraphContext>;

export function createGraphQLEngine(options: GraphQLOptions): GraphQLEngine {
  const { schema, limits, introspection, persisted, gateway, tracing, log } = options;
  return createYoga<OperationHolder, GraphContext>({
    schema,
    context: ({ operation }) => ({
      unify: unifyContext(operation),
      gateway,
      feeds: operation.client.feeds,
      outlet: operation.outlet,
      inGroup: tracing?.inGroup(operation),
    }),
    maskedErrors: { errorMessage: 'Unexpected fault', maskError: (error) => clientError(error, log) },
    maxRequestBodySize: limits.maxBodyBytes,
    parserAndValidationCache: { documentCache: smallTexts(), errorCache: smallTexts() },
    batching: false,
    extraParamNames: ['documentId'],
    logging: false,
    // These are the router's, for all routes alike.
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    plugins: [
      getParameters(),
      persistedOperationsPlugin(persisted),
      queryLimits(limits),
      inputErrors(),
      ...(introspection ? [] : [withoutIntrospection()]),
      costLimit(limits.maxCost),
      operationRecord(),
      sharedSubscriptions(log),
      ...(tracing ? [tracing.plugin] : []),
    ],
  });
}

function unifyContext({ client, signal, meter }: Operation): UnifyContext {
  return new UnifyContext(client.tenant, { signal, priority: 'query', turn: {}, meter });
}

/** Notes what is run, ends it when the client goes, and finishes what HTTP clients get. */
function operationRecord(): Plugin<OperationHolder, OperationHolder> {
  return {
    onParse:
      () =>
      ({ result, context }) => {
        if (result instanceof GraphQLError) result.extensions.code ??= 'GRAPHQL_PARSE_FAILED';
        if (!result || result instanceof Error) return;
        const ast = getOperationAST(result, context.params?.operationName);
        context.operation.name = ast?.name?.value ?? null;
        context.operation.kind = ast?.operation ?? null;
      },
    onExecute({ args }) {
      Object.assign(args, { signal: args.contextValue.operation.signal });
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const { request, operation } = args.contextValue;
      // Over a socket there is no request.
      if (request && !takesEvents.test(request.headers.get('accept') ?? '*/*')) {
        setResultAndStopExecution({ errors: [noEvents()] } satisfies ExecutionResult);
        return;
      }
      Object.assign(args, { signal: operation.signal });
    },
    onResultProcess({ request, result, setResult, serverContext: { operation } }) {
      if (Array.isArray(result) || Symbol.asyncIterator in result) return;
      const finished = finishResult(result as ExecutionResult, operation);
      // Else it is an event of a stream.
      setResult(
        takesJson.test(request.headers.get('accept') ?? '*/*') ? withoutJson(finished, operation) : finished,
      );
    },
  };
}

// Yoga would begin the subscription, and then answer 406 without a word.
const noEvents = () =>
  new GraphQLError('A subscription is answered to `Accept: text/event-stream`, or over a WebSocket', {
    extensions: { code: 'BAD_REQUEST', http: { status: 406 } },
  });

const takesEvents = /(text\/(event-stream|\*)|\*\/\*)\s*([;,]|$)/i;
const takesJson = /(application\/(graphql-response\+json|json|\*)|\*\/\*)\s*([;,]|$)/i;

// Every distinct text stays with its document: what is long is rarely sent twice, and many of it would fill the memory.
function smallTexts<T extends object>() {
  const longest = 8_192;
  const kept = new LRUCache<string, T>({ max: 500 });
  return {
    get: (text: string) => kept.get(text),
    set(text: string, value: T) {
      if (text.length <= longest) kept.set(text, value);
    },
  };
}

import { setImmediate as nextIteration } from 'node:timers/promises';
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, parse } from 'graphql';
import type { Context, OperationResult, ServerOptions, SubscribePayload } from 'graphql-ws';
import { isAsyncIterable } from 'graphql-yoga';
import type { Clock } from '../../clock.js';
import { QueryTooComplex } from '../../errors.js';
import { clientError } from '../../graph/errors/error-codes.js';
import { limits } from '../../limits.js';
import type { Log } from '../../log.js';
import type { Access, Client, Credentials } from '../auth/auth.js';
import type { ClientRate } from '../auth/client-rate.js';
import type { Answer } from '../execution/answer.js';
import type { AnswerCache } from '../execution/answer-cache.js';
import type { AnswerInParts } from '../execution/answer-in-parts.js';
import type { CachedAnswer } from '../execution/cached-answer.js';
import type { GraphQLEngine, OperationArgs } from '../execution/engine.js';
import { finishResult, shownResult, withoutHttp } from '../execution/finished-result.js';
import type { Json } from '../execution/json-pieces.js';
import { listen } from '../execution/listen.js';
import { type OnFinished, Operation } from '../execution/operation.js';
import { prepare, run } from '../execution/run.js';
import { demandOf, maxAgeInExtensions } from '../http/request/demanded-age.js';
import { type Parameters, withoutEmpty } from '../http/request/parameters.js';
import type { ClientConnections } from './connection-limit.js';
import type { SessionParts, SocketSession } from './session.js';

export interface ProtocolOptions {
  readonly engine: GraphQLEngine;
  readonly answers: AnswerCache;
  readonly access: Access;
  readonly clientRate: ClientRate;
  readonly onFinished: OnFinished;
  /** Limit of open sockets per client. */
  readonly clientConnections: ClientConnections;
  readonly clock: Clock;
  readonly log: Log;
}

/** Hooks of graphql-ws: authentication, and execution of operations under the same rules as over HTTP. */
export function socketProtocol(
  options: ProtocolOptions,
): ServerOptions<Record<string, unknown>, SocketSession> {
  const { engine, answers, access, clientRate, onFinished, clientConnections, clock, log } = options;
  const begunBy = new WeakMap<ExecutionArgs, Begun>();

  async function connect({ extra: session, connectionParams }: SocketContext): Promise<boolean> {
    let client: Client;
    try {
      client = await access.authenticate(credentialsFrom(connectionParams, session.parts.credentials));
    } catch (error) {
      session.parts.close(4403, clientError(error, log).message.slice(0, 100));
      return false;
    }
    const releaseConnection = await clientConnections.take(client.id);
    if (releaseConnection === null) {
      client.release();
      session.parts.close(1013, 'Too many sockets of one client');
      return false;
    }
    const leave = () => {
      releaseConnection();
      client.release();
    };
    const isGood = await client.verify();
    if (isGood && session.admit(client, leave)) return true;
    leave();
    return false;
  }

  async function begin(
    { extra: session }: SocketContext,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { client } = session;
    if (client === null) throw new Error('An operation before its socket was acknowledged');
    const { wantsCost, sinkFor } = session.parts;
    const operation = new Operation({ client, startedAtMs: clock.now(), wantsCost, sink: sinkFor(id) });
    // Over a WebSocket `@defer` is itself the request for parts: the protocol has no other way to ask for them.
    operation.takesParts = true;
    session.running.set(id, operation);
    try {
      if (session.running.size > limits.operationsPerSocket) {
        throw new QueryTooComplex(`A socket may have ${limits.operationsPerSocket} operations at a time`);
      }
      const taken = clientRate.take(client.id);
      if (taken) await taken;
      return begun(operation, payload, session.parts.close);
    } catch (error) {
      return [clientError(error, log)];
    }
  }

  /** Looks up a cached answer, or else parses and validates the document. */
  function begun(
    operation: Operation,
    payload: SubscribePayload,
    close: SessionParts['close'],
  ): ExecutionArgs | readonly GraphQLError[] {
    const requestText = textOf(payload);
    const cached = answers.find(requestText, operation);
    if (cached) {
      const args = { schema: engine.schema, document: anyQuery };
      begunBy.set(args, { operation, cached });
      return args;
    }
    const parameters: Parameters = withoutEmpty(payload);
    operation.demand = demandOf(maxAgeInExtensions(parameters.extensions), clock.now());
    answers.note(operation);
    const args = prepare(engine, parameters, operation);
    if ('document' in args) begunBy.set(args, { operation, args, requestText, close });
    return args;
  }

  async function execute(args: ExecutionArgs): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
    const begun = begunBy.get(args);
    if (!begun) throw new Error('An operation that was not prepared');
    if ('cached' in begun) return sentTo(begun.operation, begun.cached.json);
    const { operation, requestText } = begun;
    const answer = await run(engine, begun.args);
    if ('rest' in answer) return sentInParts(operation, answer);
    const { json } = answer;
    if (typeof json === 'string') {
      return sentTo(operation, answers.write(requestText, operation, json)?.json ?? json);
    }
    return sentTo(operation, await textOfPieces(answers.writing(requestText, operation, json)));
  }

  async function subscribe(args: ExecutionArgs): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
    const begun = begunBy.get(args);
    if (!begun || 'cached' in begun) throw new Error('An operation that was not prepared');
    const { close } = begun;
    const result = await listen(engine, begun.args, (one) => {
      // The client then reconnects and resumes from its cursor.
      if (fellBehind(one)) close(1013, 'A subscription fell behind');
    });
    return isAsyncIterable(result) ? result : shownResult(result);
  }

  function finish({ extra: { running } }: SocketContext, id: string): void {
    const operation = running.get(id);
    if (!operation) return;
    running.delete(id);
    onFinished(operation, { durationMs: clock.now() - operation.startedAtMs, status: null });
  }

  return {
    connectionInitWaitTimeout: limits.socketInitMs,
    onConnect: connect,
    onSubscribe: begin,
    // graphql-ws awaits both, though its types do not allow promises.
    execute: (args) => execute(args) as unknown as OperationResult,
    subscribe: (args) => subscribe(args) as unknown as OperationResult,
    onComplete: finish,
    onError(context, id, _payload, errors) {
      const operation = context.extra.running.get(id);
      const shown = operation ? (finishResult({ errors }, operation).errors ?? errors) : errors;
      finish(context, id);
      return withoutHttp(shown).map((error) => error.toJSON());
    },
  };
}

type SocketContext = Context<Record<string, unknown>, SocketSession>;

/** A prepared operation, between `onSubscribe` and `execute` or `subscribe` of graphql-ws. */
type Begun =
  | { readonly operation: Operation; readonly cached: CachedAnswer }
  | {
      readonly operation: Operation;
      readonly args: OperationArgs;
      readonly requestText: string;
      /** Closes the socket. */
      readonly close: SessionParts['close'];
    };

// graphql-ws reads the operation type from it; it is never executed.
const anyQuery = parse('{ __typename }');

/** docs/behaviour.md 7: from the `connection_init` payload, or else from the upgrade's headers. */
function credentialsFrom(payload: Record<string, unknown> | undefined, upgrade: Credentials): Credentials {
  return {
    authorization:
      textIn(payload, 'authorization') ?? textIn(payload, 'Authorization') ?? upgrade.authorization,
    catalogueKey: textIn(payload, 'catalogueKey') ?? upgrade.catalogueKey,
    address: upgrade.address,
  };
}

/** The same text as the body of a POST with this payload, so that both share cached answers. */
function textOf(payload: SubscribePayload): string {
  try {
    return JSON.stringify(payload);
  } catch {
    // JSON.parse has no limit of depth, JSON.stringify has the stack's.
    throw new QueryTooComplex('The message is nested too deeply');
  }
}

function textIn(payload: Record<string, unknown> | undefined, name: string): string | null {
  const value = payload?.[name];
  return typeof value === 'string' ? value : null;
}

const fellBehind = ({ errors }: ExecutionResult) =>
  errors?.some(({ extensions }) => extensions.code === 'FELL_BEHIND') === true;

/** Sends the result of a query directly to the socket; graphql-ws sends only the `complete` message. */
function sentTo({ sink, isAbandoned }: Operation, json: string | Uint8Array): AsyncIterable<ExecutionResult> {
  if (!isAbandoned) sink?.send(json);
  return noMore();
}

async function* noMore(): AsyncGenerator<ExecutionResult> {}

/** The same for an answer in parts: each is a `next` message, as soon as it is there. */
async function* sentInParts(
  operation: Operation,
  { first, rest }: AnswerInParts,
): AsyncGenerator<ExecutionResult> {
  const send = async ({ json }: Answer) => {
    const text = await textOfPieces(json);
    if (!operation.isAbandoned) operation.sink?.send(text);
  };
  await send(first);
  for await (const payload of rest) {
    await send(payload);
    if (operation.isAbandoned) return;
  }
}

/** Long results are serialised piece by piece, so that the event loop serves other clients in between. */
async function textOfPieces(json: Json): Promise<string> {
  if (typeof json === 'string') return json;
  const written: string[] = [];
  for (const piece of json) {
    written.push(piece);
    await nextIteration();
  }
  return written.join('');
}

import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql';
import type { Context, OperationResult, ServerOptions, SubscribePayload } from 'graphql-ws';
import type { Clock } from '../clock.js';
import { QueryTooComplex } from '../errors.js';
import { clientError } from '../graph/error-codes.js';
import type { Log } from '../log.js';
import type { Access, Client, Credentials } from './auth.js';
import type { ClientRate } from './client-rate.js';
import type { GraphQLEngine } from './graphql.js';
import { jsonPieces } from './json-pieces.js';
import { finishResult, newOperation, type OnFinished, type Operation, withoutHttp } from './operation.js';
import type { PersistedOperations } from './persisted-operations.js';
import type { ClientPlaces } from './places.js';
import type { SessionParts, SocketSession } from './socket-session.js';

export interface ProtocolOptions {
  readonly engine: GraphQLEngine;
  readonly access: Access;
  readonly clientRate: ClientRate;
  readonly persisted: PersistedOperations;
  readonly onFinished: OnFinished;
  /** For sockets. */
  readonly places: ClientPlaces;
  readonly clock: Clock;
  readonly log: Log;
}

const operationsPerSocket = 100;
const initTimeoutMs = 5_000;

/** The protocol's side: who is let in, and how a message becomes an operation under the same rules as over HTTP. */
export function socketProtocol(
  options: ProtocolOptions,
): ServerOptions<Record<string, unknown>, SocketSession> {
  const { engine, access, clientRate, persisted, onFinished, places, clock, log } = options;
  const executors = new WeakMap<ExecutionArgs, Executor>();

  async function connect({ extra: session, connectionParams }: SocketContext): Promise<boolean> {
    let client: Client;
    try {
      client = await access.authenticate(credentialsFrom(connectionParams, session.parts.credentials));
    } catch (error) {
      session.parts.close(4403, clientError(error, log).message.slice(0, 100));
      return false;
    }
    const leavePlace = await places.take(client.id);
    if (leavePlace === null) {
      client.release();
      session.parts.close(1013, 'Too many sockets of one client');
      return false;
    }
    const leave = () => {
      leavePlace();
      client.release();
    };
    const isGood = await client.verify();
    if (isGood && session.admit(client, leave)) return true;
    leave();
    return false;
  }

  async function prepare(
    { extra: session }: SocketContext,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { client } = session;
    if (client === null) throw new Error('An operation before its socket was acknowledged');
    const leave = new AbortController();
    const { wantsCost, outletFor } = session.parts;
    const operation = newOperation({
      id: randomUUID(),
      client,
      signal: leave.signal,
      wantsCost,
      outlet: outletFor(id),
      traceparent: null,
    });
    session.running.set(id, { operation, leave, startedAtMs: clock.now() });
    try {
      if (session.running.size > operationsPerSocket) {
        throw new QueryTooComplex(`A socket may have ${operationsPerSocket} operations at a time`);
      }
      const taken = clientRate.take(client.id);
      if (taken) await taken;
      return await parsed(operation, payload, session.parts.close);
    } catch (error) {
      return [clientError(error, log)];
    }
  }

  async function parsed(
    operation: Operation,
    payload: SubscribePayload,
    close: SessionParts['close'],
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const query = persisted.textFor(payload);
    if (query === undefined) throw noQuery();
    const params = { ...payload, query };
    const { schema, parse, validate, contextFactory, execute, subscribe } = engine.getEnveloped({
      operation,
      params,
    });
    const document = parse(params.query);
    const errors: readonly GraphQLError[] = validate(schema, document);
    if (errors.length > 0) return errors;
    const args: ExecutionArgs = {
      schema,
      document,
      operationName: payload.operationName,
      variableValues: payload.variables,
      contextValue: await contextFactory(),
    };
    executors.set(args, { operation, execute, subscribe, close });
    return args;
  }

  async function run(
    args: ExecutionArgs,
    kind: 'execute' | 'subscribe',
  ): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
    const executor = executors.get(args);
    if (!executor) throw new Error('An operation that was not prepared');
    const { operation } = executor;
    try {
      const result = await executor[kind](args);
      if (!isStream(result)) return await sliced(forSocket(result as ExecutionResult, operation), operation);
      return mapped(result, (one) => {
        // contract 9.5: so that it connects anew, and resumes from its cursor.
        if (fellBehind(one)) executor.close(1013, 'A subscription fell behind');
        return forSocket(one, operation);
      });
    } catch (error) {
      return forSocket({ errors: [clientError(error, log)] }, operation);
    }
  }

  function finish({ extra: { running } }: SocketContext, id: string): void {
    const done = running.get(id);
    if (!done) return;
    running.delete(id);
    onFinished(done.operation, { durationMs: clock.now() - done.startedAtMs, status: null });
  }

  return {
    connectionInitWaitTimeout: initTimeoutMs,
    onConnect: connect,
    onSubscribe: prepare,
    // graphql-ws awaits both, though its types say that they answer at once.
    execute: (args) => run(args, 'execute') as unknown as OperationResult,
    subscribe: (args) => run(args, 'subscribe') as unknown as OperationResult,
    onComplete: finish,
    onError(context, id, _payload, errors) {
      const operation = context.extra.running.get(id)?.operation;
      const shown = operation ? (finishResult({ errors }, operation).errors ?? errors) : errors;
      finish(context, id);
      return withoutHttp(shown).map((error) => error.toJSON());
    },
  };
}

type SocketContext = Context<Record<string, unknown>, SocketSession>;

interface Executor {
  readonly operation: Operation;
  readonly execute: (args: ExecutionArgs) => unknown;
  readonly subscribe: (args: ExecutionArgs) => unknown;
  /** Closes the socket. */
  readonly close: SessionParts['close'];
}

/** contract 7: in the `connection_init` payload, or else in the upgrade's headers. */
function credentialsFrom(payload: Record<string, unknown> | undefined, upgrade: Credentials): Credentials {
  return {
    authorization:
      textIn(payload, 'authorization') ?? textIn(payload, 'Authorization') ?? upgrade.authorization,
    catalogueKey: textIn(payload, 'catalogueKey') ?? upgrade.catalogueKey,
    address: upgrade.address,
  };
}

function textIn(payload: Record<string, unknown> | undefined, name: string): string | null {
  const value = payload?.[name];
  return typeof value === 'string' ? value : null;
}

const fellBehind = ({ errors }: ExecutionResult) =>
  errors?.some(({ extensions }) => extensions.code === 'FELL_BEHIND') === true;

const noQuery = () => new GraphQLError('Must provide query string', { extensions: { code: 'BAD_REQUEST' } });

function forSocket(result: ExecutionResult, operation: Operation): ExecutionResult {
  const finished = finishResult(result, operation);
  return finished.errors ? { ...finished, errors: withoutHttp(finished.errors) } : finished;
}

/**
 * Writes a long result piece by piece, so that others get their turn in between, and hands it to the socket by itself:
 * what graphql-ws is left with is its end.
 */
async function sliced(
  result: ExecutionResult,
  { outlet, signal }: Operation,
): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
  const pieces = jsonPieces(result);
  const first = pieces.next().value ?? '';
  let piece = pieces.next();
  if (piece.done || !outlet) return result;
  const written = [first];
  for (; !piece.done; piece = pieces.next()) {
    written.push(piece.value);
    await nextTurn();
  }
  if (!signal.aborted) outlet.send(Buffer.from(written.join('')));
  return (async function* () {})();
}

function isStream(result: unknown): result is AsyncIterable<ExecutionResult> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

// Not an async function*: its return() would wait for the next result of a source that may be silent for hours.
function mapped<T>(source: AsyncIterable<T>, map: (value: T) => T): AsyncIterableIterator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const done = { done: true, value: undefined } as const;
  return {
    async next() {
      const step = await iterator.next();
      return step.done ? done : { done: false, value: map(step.value) };
    },
    async return() {
      await iterator.return?.();
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

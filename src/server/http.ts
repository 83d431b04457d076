import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../clock.js';
import { ClientGone } from '../errors.js';
import { clientError } from '../graph/error-codes.js';
import type { Log } from '../log.js';
import type { Access, Client, Credentials } from './auth.js';
import { type BrowserPolicy, preflightHeaders, securityHeaders } from './browser-safety.js';
import type { ClientRate } from './client-rate.js';
import type { GraphiQLPage } from './graphiql.js';
import type { GraphQLEngine } from './graphql.js';
import { newOperation, type OnFinished, type Operation } from './operation.js';
import { parseUrl } from './parse-url.js';
import { refuse, sendError } from './reply.js';
import { isStream, sendResponse } from './send-response.js';

/** A route that anyone may ask: health and metrics. */
export type OpenRoute = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
/** A route that needs to know who asks. */
export type ClientRoute = (
  request: IncomingMessage,
  response: ServerResponse,
  operation: Operation,
) => Promise<void>;

export interface HttpServerOptions {
  readonly engine: GraphQLEngine;
  readonly access: Access;
  readonly clientRate: ClientRate;
  readonly policy: BrowserPolicy;
  /** Null with GRAPHIQL=false. */
  readonly graphiql: GraphiQLPage | null;
  /** By exact path. */
  readonly openRoutes: Readonly<Record<string, OpenRoute>>;
  readonly waveforms: ClientRoute;
  readonly onFinished: OnFinished;
  /** Aborted when the gateway is leaving: open streams end. */
  readonly leaving: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

export function createHttpServer(options: HttpServerOptions): Server {
  const { engine, access, clientRate, policy, graphiql, openRoutes, waveforms, leaving, clock, log } =
    options;

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    policy.addCorsHeaders(request, response);
    const refusal = policy.refusal(request.headers);
    if (refusal !== null) return refuse(response, 403, refusal);
    if (leaving.aborted) {
      return refuse(response, 503, 'The gateway is shutting down', {
        connection: 'close',
        'retry-after': '1',
      });
    }
    if (request.method === 'OPTIONS') {
      response.writeHead(204, preflightHeaders).end();
      return;
    }
    if (parseUrl(request.url ?? '', `http://${request.headers.host}`) === null) {
      return refuse(response, 400, 'The Host header or the path is malformed');
    }
    const path = pathOf(request);
    const open = openRoutes[path];
    if (open) {
      if (!isMethod(request, response, ['GET', 'HEAD'])) return;
      return open(request, response);
    }
    if (path === '/graphql') return graphql(request, response);
    if (path.startsWith('/waveforms/')) {
      if (!isMethod(request, response, ['GET'])) return;
      return asClient(request, response, (operation) => waveforms(request, response, operation));
    }
    if (path === '/') {
      response.writeHead(308, { location: '/graphql' }).end();
      return;
    }
    refuse(response, 404, 'There is nothing at this path: the graph is at /graphql');
  }

  async function graphql(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET' && asksForPage(request)) {
      if (graphiql) return graphiql.send(request, response);
      return refuse(response, 406, 'GraphiQL is switched off here: ask for application/json');
    }
    if (!isMethod(request, response, ['GET', 'POST'])) return;
    // What a form can send, a page of another origin can send without being asked (contract 7).
    if (
      request.method === 'POST' &&
      !/^application\/(graphql\+)?json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
    ) {
      return refuse(response, 415, 'Send the operation as application/json');
    }
    await asClient(request, response, async (operation) => {
      const answer = await engine.handleNodeRequestAndResponse(request, response, { operation });
      if (answer.status === 406 && operation.body === null) return refuse(response, 406, notAcceptable);
      // A stream can outlive the access that it was opened with: then it ends.
      if (isStream(answer) && !response.destroyed) {
        response.once(
          'close',
          operation.client.whenEnded(() => response.destroy()),
        );
      }
      await sendResponse(answer, response, leaving, operation.body, clock);
    });
  }

  /** Runs `answer` for whom the request proves to be from, within that client's rate. */
  async function asClient(
    request: IncomingMessage,
    response: ServerResponse,
    answer: (operation: Operation) => Promise<void>,
  ): Promise<void> {
    const startedAtMs = clock.now();
    const id = randomUUID();
    response.setHeader('x-request-id', id);
    let client: Client;
    try {
      client = await access.authenticate(credentialsOf(request));
    } catch (error) {
      return sendError(response, 500, clientError(error, log));
    }
    const gone = new AbortController();
    const operation = newOperation({
      id,
      client,
      signal: gone.signal,
      wantsCost: request.headers['x-upstream-cost'] === '1',
      traceparent: textOf(request.headers.traceparent),
    });
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new ClientGone('The client has gone'));
      client.release();
      options.onFinished(operation, { durationMs: clock.now() - startedAtMs, status: response.statusCode });
    });
    try {
      const taken = clientRate.take(client.id);
      if (taken) await taken;
    } catch (error) {
      return sendError(response, 500, clientError(error, log));
    }
    await answer(operation);
  }

  // Whoever sends a request a byte at a time does not hold a connection for long.
  const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 };
  const server = createServer({ ...timeouts, keepAliveTimeout: 65_000 }, (request, response) => {
    route(request, response).catch((error) => {
      const told = clientError(error, log);
      if (response.headersSent) response.destroy();
      else sendError(response, 500, told);
    });
  });
  return server;
}

const notAcceptable =
  'Accept application/json or application/graphql-response+json, and text/event-stream for a subscription';

/** Path without the query, as it was sent: matched exactly, so that nothing answers for `/anything/health`. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').replace(/[?#].*$/s, '');
}

export function credentialsOf({ headers, socket }: IncomingMessage): Credentials {
  return {
    authorization: headers.authorization ?? null,
    catalogueKey: textOf(headers['x-catalogue-key']),
    address: socket.remoteAddress ?? '',
  };
}

function asksForPage({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '');
}

function isMethod(request: IncomingMessage, response: ServerResponse, allowed: readonly string[]): boolean {
  if (allowed.includes(request.method ?? '')) return true;
  refuse(response, 405, `This path answers ${allowed.join(' and ')}`, { allow: allowed.join(', ') });
  return false;
}

const textOf = (header: string | string[] | undefined) => (typeof header === 'string' ? header : null);

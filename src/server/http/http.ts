import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { clientError } from '../../graph/errors/error-codes.js';
import { limits } from '../../limits.js';
import type { Operation } from '../execution/operation.js';
import { asClient, type ClientRouteOptions } from './as-client.js';
import { type BrowserPolicy, securityHeaders } from './browser-safety.js';
import { type GraphQLRouteOptions, graphqlRoute } from './graphql-route.js';
import type { Dashboard } from './pages/dashboard.js';
import { pipeliningLimit } from './pipelining.js';
import { parseUrl } from './request/parse-url.js';
import { refusalOfRepeated, toOriginForm } from './request/request-head.js';
import { type Head, setHead } from './response/head.js';
import { refuseMalformed } from './response/refuse-connection.js';
import { isMethod, refuse, sendError } from './response/reply.js';

/** A route without authentication: health and metrics. */
export type OpenRoute = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
/** A route with authentication. */
export type ClientRoute = (
  request: IncomingMessage,
  response: ServerResponse,
  operation: Operation,
) => Promise<void>;

export interface HttpServerOptions extends GraphQLRouteOptions, ClientRouteOptions {
  readonly policy: BrowserPolicy;
  /** By exact path. */
  readonly openRoutes: Readonly<Record<string, OpenRoute>>;
  readonly waveforms: ClientRoute;
  /** Null with DASHBOARD=false. */
  readonly dashboard: Dashboard | null;
}

export function createHttpServer(options: HttpServerOptions): Server {
  const { policy, openRoutes, waveforms, dashboard, leaving, log } = options;
  const graphql = graphqlRoute(options);
  const isAddress = addressCheck();

  function route(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    head: Head,
  ): Promise<void> | void {
    const isGraph = path === '/graphql';
    const refusal = refusalOf(request, path);
    if (refusal === null && isGraph && request.method !== 'OPTIONS') return graphql(request, response, head);
    setHead(response, head);
    if (refusal !== null) return refuse(response, ...refusal);
    if (request.method === 'OPTIONS') {
      response.writeHead(204, policy.preflightHeaders).end();
      return;
    }
    const open = openRoutes[path];
    if (open) {
      if (!isMethod(request, response, ['GET', 'HEAD'])) return;
      return open(request, response);
    }
    if (path.startsWith('/waveforms/')) {
      if (!isMethod(request, response, ['GET', 'HEAD'])) return;
      return asClient(options, request, response, head, (operation) => {
        setHead(response, head);
        return waveforms(request, response, operation);
      });
    }
    if (dashboard && isOfDashboard(path)) {
      if (!isMethod(request, response, ['GET', 'HEAD'])) return;
      return dashboard.send(request, response, path.slice(dashboardPath.length));
    }
    if (path === '/') {
      if (!isMethod(request, response, ['GET', 'HEAD'])) return;
      // Relative, so that it stays inside the path prefix of a proxy; temporary, since browsers keep a permanent one for
      // whatever listens on this port later.
      response.writeHead(302, { location: './graphql', 'cache-control': 'no-store' }).end();
      return;
    }
    refuse(response, 404, 'There is nothing at this path: the graph is at /graphql');
  }

  /** Refuses a request before routing: status, message and headers; null to let it pass. */
  function refusalOf(request: IncomingMessage, path: string): Refusal | null {
    const forbidden = policy.refusal(path, request.headers);
    if (forbidden !== null) return [403, forbidden];
    if (leaving.aborted) {
      return [503, 'The gateway is shutting down', { connection: 'close', 'retry-after': '1' }];
    }
    const repeated = refusalOfRepeated(request);
    if (repeated !== null) return [400, repeated];
    if (request.method === 'OPTIONS' || isAddress(request)) return null;
    return [400, 'The Host header or the path is malformed'];
  }

  const settings = {
    headersTimeout: limits.requestHeadersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
  };
  const isWithinLimit = pipeliningLimit();
  const server = createServer(settings, (request, response) => {
    if (!isWithinLimit(request, response)) return;
    toOriginForm(request);
    const path = pathOf(request);
    const head = [...securityHeaders, 'vary', varyOf(path), ...policy.corsHeaders(request.headers)];
    const failed = (error: unknown) => {
      const shown = clientError(error, log);
      if (response.headersSent) {
        response.destroy();
        return;
      }
      setHead(response, head);
      sendError(response, 500, shown);
    };
    try {
      route(request, response, path, head)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  });
  refuseMalformed(server);
  return server;
}

const dashboardPath = '/dashboard';

const isOfDashboard = (path: string) => path === dashboardPath || path.startsWith(`${dashboardPath}/`);

type Refusal = readonly [number, string, Record<string, string>?];

// Request headers that the responses depend on.
function varyOf(path: string): string {
  if (path === '/graphql') return varyOfGraph;
  if (path.startsWith('/waveforms/')) return varyOfClient;
  return isOfDashboard(path) ? 'Origin, Accept-Encoding' : 'Origin';
}

const varyOfClient = 'Origin, Authorization, X-Catalogue-Key';
const varyOfGraph = `${varyOfClient}, Accept, Accept-Encoding, X-Upstream-Cost`;

const mostHosts = 1_000;

/** Checks that Host, which HTTP/1.1 requires, and path form a URL. Hosts are cached: they repeat, and few paths can make a URL invalid. */
function addressCheck(): (request: IncomingMessage) => boolean {
  const hosts = new Set<string>();
  return ({ url = '', httpVersion, headers: { host = httpVersion === '1.1' ? null : 'localhost' } }) => {
    if (host === null) return false;
    const isPlainPath = /^\/(?![/\\])/.test(url);
    if (isPlainPath && hosts.has(host)) return true;
    if (parseUrl(url, `http://${host}`) === null) return false;
    if (hosts.size >= mostHosts) hosts.clear();
    hosts.add(host);
    return true;
  };
}

/** Path without the query, as it was sent: matched exactly, so that nothing answers for `/anything/health`. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').replace(/[?#].*$/s, '');
}

import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, Pool } from 'undici';

/** Addresses of proxies, empty where there is none, and the hosts that are asked without (docs/operations.md, Proxies). */
export interface ProxyOptions {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

const connectTimeoutMs = 15_000;

/** Connections that are kept, at most `connections` per address; through a proxy where `proxies` name one. */
export function createAgent(connections: number, proxies: ProxyOptions | null): Dispatcher {
  // A request's own time-out ends it, but not the connection that it waited for: without this limit that would block
  // the next request.
  const connect = { timeout: connectTimeoutMs };
  const options = {
    connections,
    // undici subtracts this from the keep-alive a server announces; with its default of 2 s an announced 2 s means no
    // reuse.
    keepAliveTimeoutThreshold: 500,
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (proxies === null) return new Agent({ ...options, connect });
  return new EnvHttpProxyAgent({
    ...options,
    ...proxies,
    connect,
    requestTls: connect,
    proxyTls: connect,
    // Plain http goes to the proxy as a request for the whole address: many let CONNECT reach no port but 443.
    proxyTunnel: false,
    // undici leaves the options out for such requests.
    factory: (origin, own) => new Pool(origin, { ...options, ...own }),
    // The answer to CONNECT is part of connecting.
    clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: connectTimeoutMs }),
  });
}

/** GET through the proxies. */
export function fetchThrough(proxies: ProxyOptions): (url: string, init: object) => Promise<Response> {
  const dispatcher = createAgent(1, proxies);
  return async (url, init) => {
    // undici's own, since that of Node is another version of it and would not know the agent.
    const response = await fetch(url, { ...init, dispatcher });
    return new Response(await response.arrayBuffer(), { status: response.status });
  };
}

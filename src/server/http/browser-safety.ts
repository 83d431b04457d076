import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { parseUrl } from './request/parse-url.js';

/** Rules for browsers (docs/behaviour.md 7): other origins are refused unless CORS_ORIGINS names them. */
export interface BrowserPolicy {
  /** Reason to refuse a request or a WebSocket upgrade on this path; null to let it pass. */
  refusal(path: string, headers: IncomingHttpHeaders): string | null;
  /** Headers of a preflight response, in addition to `corsHeaders`. */
  readonly preflightHeaders: OutgoingHttpHeaders;
  /** CORS headers for an allowed origin; name and value alternate. */
  corsHeaders(headers: IncomingHttpHeaders): readonly string[];
}

export interface BrowserPolicyOptions {
  readonly corsOrigins: readonly string[] | '*';
  /** Request headers that pages may send beside `usualHeaders`. */
  readonly corsHeaders: readonly string[];
  /**
   * True where reaching the gateway is enough to read (AUTH_MODE=none). DNS rebinding would give a foreign page the same
   * origin, and over plain http its GET has no header that tells it from other clients: its Host alone gives it away.
   */
  readonly isOpenToAll: boolean;
}

export function browserPolicy(options: BrowserPolicyOptions): BrowserPolicy {
  const { corsOrigins, isOpenToAll } = options;
  const allows = (origin: string) => corsOrigins === '*' || corsOrigins.includes(origin);
  const isAllowedHost = (host: string) =>
    corsOrigins === '*' || corsOrigins.some((origin) => isSameHost(origin, host));

  function refusal(path: string, headers: IncomingHttpHeaders): string | null {
    const { host = '' } = headers;
    const origin = headers.origin ?? originOfReferer(headers);
    if (origin !== undefined) {
      if (allows(origin)) return null;
      if (!isSameHost(origin, host)) return 'This origin is not in CORS_ORIGINS';
    } else if (isForeignFetch(headers)) {
      return 'Requests from pages of other origins need an Origin header that is in CORS_ORIGINS';
    }
    // A probe of a container may use any name, and learns nothing there but that the process runs.
    if (isOpenToAll && path !== '/health' && canBeRebound(host) && !isAllowedHost(host)) {
      return 'With AUTH_MODE=none this host name has to be in CORS_ORIGINS, as http://name:port; an IP address or localhost need not';
    }
    return null;
  }

  function corsHeaders({ origin }: IncomingHttpHeaders): readonly string[] {
    if (origin === undefined || !allows(origin)) return [];
    return [
      // Without access-control-allow-credentials: the gateway uses no cookies.
      'access-control-allow-origin',
      corsOrigins === '*' ? '*' : origin,
      'access-control-expose-headers',
      'etag, retry-after, www-authenticate, x-request-id',
    ];
  }

  const preflightHeaders = {
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': [...usualHeaders, ...options.corsHeaders].join(', '),
    'access-control-max-age': '600',
    'cache-control': 'no-store',
  };
  return { refusal, corsHeaders, preflightHeaders };
}

// Headers that the gateway reads, and those that Apollo Client, Relay, urql and tracing in browsers (OpenTelemetry, Zipkin,
// Jaeger, Sentry, Datadog, New Relic, X-Ray) add by themselves.
const usualHeaders = [
  'accept',
  'apollo-require-preflight',
  'apollographql-client-name',
  'apollographql-client-version',
  'authorization',
  'b3',
  'baggage',
  'cache-control',
  'content-encoding',
  'content-type',
  'graphql-client-name',
  'graphql-client-version',
  'graphql-require-preflight',
  'if-none-match',
  'last-event-id',
  'newrelic',
  'pragma',
  'sentry-trace',
  'traceparent',
  'tracestate',
  'uber-trace-id',
  'x-amzn-trace-id',
  'x-apollo-operation-id',
  'x-apollo-operation-name',
  'x-apollo-operation-type',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-spanid',
  'x-b3-traceid',
  'x-catalogue-key',
  'x-datadog-origin',
  'x-datadog-parent-id',
  'x-datadog-sampling-priority',
  'x-datadog-trace-id',
  'x-graphql-client-name',
  'x-graphql-client-version',
  'x-graphql-event-stream-token',
  'x-graphql-yoga-csrf',
  'x-request-id',
  'x-requested-with',
  'x-upstream-cost',
];

/** Headers of every response; name and value alternate. The GraphiQL page has its own content security policy. */
export const securityHeaders: readonly string[] = Object.entries({
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // For requests without CORS (images, scripts), which carry neither Origin nor Sec-Fetch-Site over plain http.
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}).flat();

// Only hosts are compared: behind a proxy that terminates TLS the scheme differs.
function isSameHost(origin: string, host: string): boolean {
  return parseUrl(origin)?.host === host.toLowerCase().replace(/:(80|443)$/, '');
}

// An <img> or <script> of another site sends Sec-Fetch-Site but no Origin. Following a link is allowed.
function isForeignFetch(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  return isForeign && !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document');
}

// Browsers leave Origin out of a GET without CORS, and Sec-Fetch-Site out of all requests to plain http. Following a link
// is allowed; a page that hides its Referer can still neither read the response nor change anything.
function originOfReferer(headers: IncomingHttpHeaders): string | undefined {
  const { referer, accept = '' } = headers;
  if (referer === undefined || headers['sec-fetch-site'] !== undefined || accept.includes('text/html'))
    return;
  return parseUrl(referer)?.origin;
}

// No public DNS gives out names without a dot: they are of the machine or its network, such as services of a compose file.
function canBeRebound(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name.includes('.') && !name.endsWith('.localhost') && isIP(name) === 0;
}

import type { IncomingHttpHeaders } from 'node:http';
import { parseUrl } from './parse-url.js';

/** What browsers may do here (docs/behaviour.md 7): nothing from other origins, unless CORS_ORIGINS names them. */
export interface BrowserPolicy {
  /** Why a request is refused; null when it is not. For requests and WebSocket upgrades alike. */
  refusal(headers: IncomingHttpHeaders): string | null;
  /** Headers, name and value in turn, that let the page of an allowed origin read the answer. */
  corsHeaders(headers: IncomingHttpHeaders): readonly string[];
}

export interface BrowserPolicyOptions {
  readonly corsOrigins: readonly string[] | '*';
  /**
   * True where being able to reach the gateway is all it takes to read (AUTH_MODE=none on loopback). Then a page whose
   * name was re-bound to this machine would be of the same origin: its Host header gives it away.
   */
  readonly loopbackNamesOnly: boolean;
}

export function browserPolicy({ corsOrigins, loopbackNamesOnly }: BrowserPolicyOptions): BrowserPolicy {
  const allows = (origin: string) => corsOrigins === '*' || corsOrigins.includes(origin);

  function refusal(headers: IncomingHttpHeaders): string | null {
    const { origin, host = '' } = headers;
    if (origin !== undefined) {
      if (allows(origin)) return null;
      if (!isSameHost(origin, host)) return 'This origin is not in CORS_ORIGINS';
    } else if (isForeignFetch(headers)) {
      return 'Requests from pages of other origins need an Origin header that is in CORS_ORIGINS';
    }
    const fromBrowser = origin !== undefined || headers['sec-fetch-site'] !== undefined;
    if (fromBrowser && loopbackNamesOnly && !isLoopbackName(host) && !allows(`http://${host}`)) {
      return 'This host name is not one of the machine itself: add its origin to CORS_ORIGINS';
    }
    return null;
  }

  function corsHeaders({ origin }: IncomingHttpHeaders): readonly string[] {
    if (origin === undefined || !allows(origin)) return [];
    return [
      // Never with credentials: no cookie means anything here.
      'access-control-allow-origin',
      corsOrigins === '*' ? '*' : origin,
      'access-control-expose-headers',
      'retry-after, www-authenticate, x-request-id',
    ];
  }

  return { refusal, corsHeaders };
}

/** Answers to a preflight, beside those of `corsHeaders`. */
export const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'accept, authorization, cache-control, content-type, pragma, x-catalogue-key, x-upstream-cost, x-graphql-yoga-csrf',
  'access-control-max-age': '600',
};

/** For every answer, name and value in turn; the page of GraphiQL has a content security policy of its own. */
export const securityHeaders: readonly string[] = Object.entries({
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}).flat();

// Behind a proxy that ends TLS the scheme differs, so hosts are compared.
function isSameHost(origin: string, host: string): boolean {
  return parseUrl(origin)?.host === host.toLowerCase().replace(/:(80|443)$/, '');
}

// An <img> or <script> of another site sends no Origin, but says so here. A link that is followed is no reading.
function isForeignFetch(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  return isForeign && !(headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document');
}

function isLoopbackName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d+){3}$/.test(name)
  );
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { minuteMs } from '../../clock.js';
import { BadUserInput, GatewayError, notConfigured } from '../../errors.js';
import { clientError } from '../../graph/errors/error-codes.js';
import type { Log } from '../../log.js';
import { Instant } from '../../unify/time/instant.js';
import type { WaveformQuery } from '../../upstream/catalogue/client.js';
import { asId, type CatalogueSensorId } from '../../upstream/decode/fields.js';
import { hasBytes } from '../../upstream/http/first-bytes.js';
import type { Operation } from '../execution/operation.js';
import { refuse, sendError } from './response/reply.js';

// A client that reads nothing for this long is disconnected, to free its upstream connection.
const stalledAfterMs = minuteMs;

/**
 * `GET /waveforms/{catalogueId}/{channel}.mseed?start&end`: miniSEED as it arrives from the catalogue, never buffered
 * whole. Backpressure of the client reaches upstream, and its disconnect aborts the upstream request.
 */
export async function sendWaveform(
  request: IncomingMessage,
  response: ServerResponse,
  operation: Operation,
  log: Log,
): Promise<void> {
  operation.name = 'miniSEED';
  operation.kind = 'waveform';
  try {
    const parsed = parsePath(request.url ?? '');
    if (parsed === null)
      return refuse(response, 404, 'Ask for /waveforms/{catalogueId}/{channel}.mseed?start&end');
    const { meter, signal } = operation;
    const { tenant } = operation.client;
    if (tenant.catalogue === null) throw notConfigured('CATALOGUE');
    const scope = { signal, priority: 'query', operationKey: operation, meter } as const;
    const body = await tenant.catalogue.waveformStream(parsed.sensorId, parsed.query, scope);
    // An empty file would be taken for miniSEED by those who save it.
    if (body === null || !(await hasBytes(body))) {
      return refuse(response, 404, 'The catalogue has no such sensor, or no data of it for this window');
    }
    response.setTimeout(stalledAfterMs, () => response.destroy());
    response.writeHead(200, {
      'content-type': 'application/vnd.fdsn.mseed',
      'content-disposition': `attachment; filename="${parsed.sensorId.replace(/[^\w.-]/g, '_')}.${parsed.query.channel}.mseed"`,
      'cache-control': 'no-store',
    });
    if (request.method !== 'HEAD') return await pipeline(body, response);
    body.destroy();
    response.end();
  } catch (error) {
    const shown = clientError(error, log);
    operation.addErrorCode(shown.extensions.code);
    // The connection is cut, so that a partial body cannot be taken for a complete one.
    if (response.headersSent || response.destroyed) response.destroy();
    else sendError(response, statusOf(error), shown);
  }
}

function parsePath(url: string): { sensorId: CatalogueSensorId; query: WaveformQuery } | null {
  const [path = '', search = ''] = url.split('?', 2);
  const [, id, channel] = /^\/waveforms\/([^/]+)\/([^/]+)\.mseed$/.exec(path) ?? [];
  if (id === undefined || channel === undefined) return null;
  const parameters = new URLSearchParams(search);
  // docs/interfaces.md C4.
  if (!['HNZ', 'HNE', 'HNN'].includes(channel)) {
    throw new BadUserInput('`channel` must be HNZ, HNE or HNN', { argument: 'channel' });
  }
  const start = timeIn(parameters, 'start');
  const end = timeIn(parameters, 'end');
  if (start.compare(end) >= 0) throw new BadUserInput('`end` must be after `start`', { argument: 'end' });
  return {
    sensorId: asId(decoded(id)),
    query: { channel, start: start.toString(), end: end.toString() },
  };
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new BadUserInput('`catalogueId` is not well encoded', { argument: 'catalogueId' });
  }
}

function timeIn(parameters: URLSearchParams, name: 'start' | 'end'): Instant {
  const instant = Instant.parseInput(parameters.get(name) ?? '');
  if (instant) return instant;
  throw new BadUserInput(`\`${name}\` must be an RFC 3339 time such as 2026-03-08T10:00:00Z`, {
    argument: name,
  });
}

const statuses: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_CONFIGURED: 501,
  UPSTREAM_UNAUTHORIZED: 502,
  UPSTREAM_UNAVAILABLE: 502,
  UPSTREAM_RATE_LIMITED: 503,
  UPSTREAM_TIMEOUT: 504,
};

const statusOf = (error: unknown) => (error instanceof GatewayError ? (statuses[error.code] ?? 500) : 500);

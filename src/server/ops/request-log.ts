import type { Log, LogLevel } from '../../log.js';
import type { OnFinished } from '../execution/operation.js';

// Clients choose the name, so its length in the log is bounded.
const longestName = 100;

/** One line per operation; undefined where the log level omits such lines. */
export function requestLog(log: Log, level: LogLevel): OnFinished | undefined {
  if (level !== 'info' && level !== 'debug') return undefined;
  return ({ id, client, name, kind, meter, errorCodes }, { durationMs, status }) => {
    log.info(
      {
        id,
        client: client.id,
        kind,
        operation: name?.slice(0, longestName) ?? null,
        durationMs: Math.round(durationMs),
        upstreamRequests: meter.requests,
        ...(meter.requestIds.length > 0 && { upstreamRequestIds: meter.requestIds }),
        cacheHits: meter.cacheHits + meter.staleHits,
        ...(status !== null && { status }),
        ...(errorCodes.size > 0 && { errors: [...errorCodes] }),
      },
      'Operation',
    );
  };
}

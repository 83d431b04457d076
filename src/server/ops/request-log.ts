import type { Log, LogLevel } from '../../log.js';
import type { OnFinished } from '../execution/operation.js';

// A client chooses the name: what is longer than any real one is cut.
const longestName = 100;

/** One line for each operation; undefined where the log leaves such lines out. */
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

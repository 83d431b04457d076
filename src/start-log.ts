import type { Config } from './config/config.js';
import type { Log } from './log.js';
import { version } from './version.js';

/**
 * Says that the gateway listens, the same for one process and for several: one line of the log; on a terminal, where a
 * human waits for the address to open, two plain lines instead.
 */
export function logStart(
  { sandbox, auth }: Config,
  url: string,
  { log, workers }: { readonly log: Log; readonly workers?: number },
): void {
  if (!log.output.isTerminal) {
    log.info({ url, version, sandbox, auth: auth.mode, ...(workers && { workers }) }, 'Listening');
    return;
  }
  const data = sandbox ? 'made-up data of the sandbox' : `AUTH_MODE=${auth.mode}`;
  log.output.write(`seisgraph ${version} is ready: open ${url}/graphql in a browser for GraphiQL\n`);
  log.output.write(`It serves ${data}. Stop it with Ctrl+C; seisgraph --help lists its settings\n`);
}

export const ownSandbox =
  'REDIS_URL is set on the sandbox, of which each instance has its own: there is nothing to share';

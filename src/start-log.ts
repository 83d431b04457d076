import type { Config } from './config/config.js';
import type { LogFields } from './log.js';
import { version } from './version.js';

/** Fields of the one start line, which is the same for one process and for several. */
export function startFacts({ sandbox, auth }: Config, url: string): LogFields {
  return { url, version, sandbox, auth: auth.mode };
}

export const ownSandbox =
  'REDIS_URL is set on the sandbox, of which each instance has its own: there is nothing to share';

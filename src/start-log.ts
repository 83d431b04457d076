import type { Config } from './config/config.js';
import type { LogFields } from './log.js';
import { version } from './version.js';

/** What the log says at the start, however many processes there are. */
export function startFacts({ sandbox, auth }: Config, url: string): LogFields {
  return { url, version, sandbox, auth: auth.mode };
}

export const ownSandbox =
  'REDIS_URL is set on the sandbox, of which each instance has its own: there is nothing to share';

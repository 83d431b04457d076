import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock, Timer } from '../../clock.js';
import { readTokenFile } from '../../config/environment.js';
import { Unauthenticated } from '../../errors.js';
import type { Log } from '../../log.js';
import { type Access, bearerToken, type Own } from './auth.js';

export interface TokenAccessOptions {
  readonly tokens: readonly string[];
  /** Read again while the gateway runs, so that tokens can be rotated. */
  readonly file: string | null;
  readonly own: Own;
  readonly clock: Clock;
  readonly log: Log;
}

const reloadEveryMs = 1_000;

/** AUTH_MODE=token: any of several tokens. Removing one from the file closes the sockets that use it. */
export function tokenAccess({ tokens, file, own, clock, log }: TokenAccessOptions): Access {
  let accepted = tokens.map(digestOf);
  let current = tokens;
  let isReadable = true;
  let timer: Timer | null = null;
  const listeners = new Map<() => void, Buffer>();

  function isAccepted(digest: Buffer): boolean {
    // Constant time: digests have one length and all are compared, so timing reveals neither prefix nor position.
    let matches = 0;
    for (const known of accepted) if (timingSafeEqual(known, digest)) matches += 1;
    return matches > 0;
  }

  function reload(name: string): void {
    try {
      const read = readTokenFile(name);
      isReadable = true;
      if (read.join() === current.join()) return;
      current = read;
      accepted = read.map(digestOf);
      log.info({ tokens: read.length }, 'GATEWAY_TOKENS_FILE was read again');
    } catch (error) {
      // A file is empty or missing for a moment while it is replaced: that must not lock out all clients.
      if (isReadable) log.error({ error: String(error) }, 'The tokens stay as they were');
      isReadable = false;
    }
    for (const [run, digest] of listeners) if (!isAccepted(digest)) run();
  }

  function watch(name: string): void {
    reload(name);
    timer = clock.timer(reloadEveryMs, () => watch(name));
  }
  if (file !== null) watch(file);

  return {
    authenticate: ({ authorization }) => {
      const digest = digestOf(bearerToken(authorization));
      if (!isAccepted(digest)) throw new Unauthenticated('This token is not one that the gateway knows');
      return {
        id: `token ${digest.toString('hex').slice(0, 12)}`,
        ...own,
        verify: async () => isAccepted(digest),
        whenEnded: (run) => {
          const once = () => {
            listeners.delete(once);
            run();
          };
          listeners.set(once, digest);
          return () => listeners.delete(once);
        },
        release: () => {},
      };
    },
    close: () => timer?.cancel(),
  };
}

const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer');

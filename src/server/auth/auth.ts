import { Unauthenticated } from '../../errors.js';
import type { Feeds } from '../../live/feeds/feeds.js';
import type { Maybe } from '../../maybe.js';
import type { Tenant } from '../../unify/context.js';

/** Credentials of a request, from its headers or from `connection_init`. */
export interface Credentials {
  /** `Bearer …` */
  readonly authorization: string | null;
  readonly catalogueKey: string | null;
  /** Address of the peer; clients behind one proxy share it. */
  readonly address: string;
}

/** An authenticated client (docs/behaviour.md 7). */
export interface Client {
  /** Identifies the client in limits and in the log. Never a secret. */
  readonly id: string;
  readonly tenant: Tenant;
  readonly feeds: Feeds;
  /** False when access has been withdrawn; in `passthrough` this probes upstream. Used for sockets and streams. */
  verify(): Promise<boolean>;
  /** Runs `run` when access ends while in use: expired, withdrawn, or refused by upstream. */
  whenEnded(run: () => void): () => void;
  /** To be called at the end of the request or socket. */
  release(): void;
}

export interface Access {
  /** Throws `Unauthenticated`, or rejects with it. Returns a promise only where it has to wait. */
  authenticate(credentials: Credentials): Maybe<Client>;
  close(): void;
}

/** Tenant and feeds of the gateway's own keys. */
export interface Own {
  readonly tenant: Tenant;
  readonly feeds: Feeds;
}

/** AUTH_MODE=none: accepts every client. */
export function openAccess(own: Own): Access {
  return {
    authenticate: ({ address }) => ({
      id: `address ${networkOf(address)}`,
      tenant: own.tenant,
      feeds: own.feeds,
      verify,
      whenEnded: () => nothing,
      release: nothing,
    }),
    close: nothing,
  };
}

const verify = async () => true;
const nothing = () => {};

/** The token of an `Authorization: Bearer …` header; throws `Unauthenticated` where it is missing or malformed. */
export function bearerToken(authorization: string | null): string {
  if (authorization === null) throw new Unauthenticated('Send `Authorization: Bearer …`');
  const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1];
  if (token === undefined)
    throw new Unauthenticated('The Authorization header is not of the form `Bearer …`');
  return token;
}

// One subscriber of an IPv6 provider can use every address of a /64.
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? plain.split(':').slice(0, 4).join(':') : plain;
}

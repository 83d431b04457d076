import { Unauthenticated } from '../../errors.js';
import type { Feeds } from '../../live/feeds/feeds.js';
import type { Maybe } from '../../maybe.js';
import type { Tenant } from '../../unify/context.js';

/** What a request says of who asks, however it arrived: by headers, or in `connection_init`. */
export interface Credentials {
  /** `Bearer …` */
  readonly authorization: string | null;
  readonly catalogueKey: string | null;
  /** Of the peer; a proxy in front is one peer. */
  readonly address: string;
}

/** Someone who may read (docs/behaviour.md 7). */
export interface Client {
  /** Tells clients apart in limits and in the log. Never a secret. */
  readonly id: string;
  readonly tenant: Tenant;
  readonly feeds: Feeds;
  /** False when the access has been withdrawn; in `passthrough` upstream is asked. For what lasts: sockets. */
  verify(): Promise<boolean>;
  /** Runs `run` when the access ends while it is in use: expired, withdrawn, or refused by upstream. */
  whenEnded(run: () => void): () => void;
  /** To be called when the request or the socket is over. */
  release(): void;
}

export interface Access {
  /** Throws `Unauthenticated`, or rejects with it. A promise only where something has to be waited for. */
  authenticate(credentials: Credentials): Maybe<Client>;
  close(): void;
}

/** What clients read with the gateway's own keys. */
export interface Own {
  readonly tenant: Tenant;
  readonly feeds: Feeds;
}

/** AUTH_MODE=none: anyone who can reach the gateway. */
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

// One subscriber of an IPv6 provider has a whole /64 to choose addresses from.
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? plain.split(':').slice(0, 4).join(':') : plain;
}

import { limits } from '../../limits.js';

/** Limit of simultaneous connections per client. */
export interface ClientConnections {
  /** Takes one connection; the returned function, called once, releases it. Null when the client is at its limit. */
  take(clientId: string): ReleaseConnection | null | Promise<ReleaseConnection | null>;
}

export type ReleaseConnection = () => void;

/** Connections counted in this process. */
export class ConnectionLimit implements ClientConnections {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  constructor(most: number = limits.socketsPerClient) {
    this.#most = most;
  }

  take(clientId: string): ReleaseConnection | null {
    const taken = this.#taken.get(clientId) ?? 0;
    if (taken >= this.#most) return null;
    this.#taken.set(clientId, taken + 1);
    return () => {
      const left = (this.#taken.get(clientId) ?? 1) - 1;
      if (left > 0) this.#taken.set(clientId, left);
      else this.#taken.delete(clientId);
    };
  }
}

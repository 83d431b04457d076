/** So many at a time for each client, and no more. */
export interface ClientConnections {
  /** Takes a place; the returned function, called once, gives it back. Null when the client has all of its places. */
  take(clientId: string): ReleaseConnection | null | Promise<ReleaseConnection | null>;
}

export type ReleaseConnection = () => void;

/** Ten thousand screens may share one token, or the address of one proxy. */
export const socketsPerClient = 12_000;

/** The places as one process counts them. */
export class ConnectionLimit implements ClientConnections {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
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

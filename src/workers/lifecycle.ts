import type { SandboxAddress } from '../tenant.js';

/** Calls of a worker to the primary about its own state. */
export interface LifecycleCalls {
  /** The first call: asks for the number and address of this worker. */
  welcome(): Welcome;
  /** The worker is ready for connections. */
  ready(): void;
  /** The answer to a `HandedConnection`: true if the worker has taken it. */
  took(connection: number, isTaken: boolean): void;
  /** The worker cannot start; `reason` is one line. */
  failed(reason: string): void;
  /** The worker takes no more connections, and exits once the requests in flight are completed. */
  leaving(): void;
}

export interface Welcome {
  /** Number of the worker, from 1. */
  readonly number: number;
  /** Address that the primary listens on. */
  readonly url: string;
  readonly port: number;
  readonly sandbox: SandboxAddress | null;
}

/** Calls of the primary to a worker. */
export interface LifecycleOrders {
  leave(): void;
  /** Reads the manifests of persisted operations again. */
  reload(): void;
}

import type { SandboxAddress } from '../tenant.js';

/** What a worker says of itself to the primary. */
export interface LifecycleCalls {
  /** At its start: who it is. */
  welcome(): Welcome;
  /** It is ready for connections. */
  ready(): void;
  /** The answer to a `HandedConnection`: whether it is the worker's now. */
  took(connection: number, isTaken: boolean): void;
  /** It cannot start: in one line, why. */
  failed(reason: string): void;
  /** It takes no more connections, and ends when what is in flight is finished. */
  leaving(): void;
}

export interface Welcome {
  /** From 1. */
  readonly number: number;
  /** Where the primary listens. */
  readonly url: string;
  readonly port: number;
  readonly sandbox: SandboxAddress | null;
}

/** What the primary tells a worker. */
export interface LifecycleOrders {
  leave(): void;
}

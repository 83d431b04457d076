import type { GatewayError } from '../../errors.js';

/** Where one subscription's payloads go. */
export interface Sink<P> {
  /** Whether the next payload can be taken now, without piling up. */
  readonly isReady: boolean;
  /** Takes a payload. Called only when ready. */
  send(payload: P): void;
  /** Calls `run` once, as soon as it is ready again. */
  whenReady(run: () => void): void;
  /** Nothing more will come: because of the error, or because the feed is over. */
  end(error: GatewayError | null): void;
}

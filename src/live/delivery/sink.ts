import type { GatewayError } from '../../errors.js';

/** Receives the payloads of one subscription. */
export interface Sink<P> {
  /** False while payloads would pile up: backpressure. */
  readonly isReady: boolean;
  /** Call only when ready. */
  send(payload: P): void;
  /** Calls `run` once, as soon as it is ready again. */
  whenReady(run: () => void): void;
  /** Ends the subscription with the error, or as complete. */
  end(error: GatewayError | null): void;
}

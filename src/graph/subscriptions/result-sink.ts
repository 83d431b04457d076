import type { GatewayError } from '../../errors.js';
import type { PullSink } from '../../live/delivery/pull-sink.js';
import type { Sink } from '../../live/delivery/sink.js';
import type { SharedResult } from './shared-result.js';

/**
 * Bypasses the executor's stream for a transport that accepts serialised results: a result for ten thousand sockets is
 * serialised once, and each socket gets the same text.
 */
export interface ResultSink {
  /** False while the transport has backpressure, so that a result would wait in memory. */
  readonly isReady: boolean;
  /** @param result an execution result as JSON, as text or in UTF-8 */
  send(result: string | Uint8Array): void;
  /** Calls `run` once, when the sink is ready again. */
  whenReady(run: () => void): void;
}

/** Sends results directly to the transport; the end and its error go through the executor's stream. */
export class DirectSink implements Sink<SharedResult> {
  readonly #results: ResultSink;
  readonly #stream: PullSink<SharedResult>;

  constructor(results: ResultSink, stream: PullSink<SharedResult>) {
    this.#results = results;
    this.#stream = stream;
  }

  get isReady(): boolean {
    return this.#results.isReady;
  }

  send(payload: SharedResult): void {
    this.#results.send(payload.json);
  }

  whenReady(run: () => void): void {
    this.#results.whenReady(run);
  }

  end(error: GatewayError | null): void {
    this.#stream.end(error);
  }
}

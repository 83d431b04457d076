import type { GatewayError } from '../../errors.js';
import type { PullSink } from '../../live/delivery/pull-sink.js';
import type { Sink } from '../../live/delivery/sink.js';
import type { SharedResult } from './shared-result.js';

/**
 * A way around the executor's stream for a transport that can take finished results: a result that ten thousand sockets
 * get is then written once, and each socket is handed its bytes.
 */
export interface ResultSink {
  /** Whether a result would be on its way at once rather than wait in memory. */
  readonly isReady: boolean;
  /** @param result an execution result as JSON, in UTF-8 */
  send(result: Uint8Array): void;
  /** Calls `run` once, when it is ready again. */
  whenReady(run: () => void): void;
}

/** Results go straight to the transport; the end, and what it is for, comes by the stream as usual. */
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
    this.#results.send(payload.bytes);
  }

  whenReady(run: () => void): void {
    this.#results.whenReady(run);
  }

  end(error: GatewayError | null): void {
    this.#stream.end(error);
  }
}

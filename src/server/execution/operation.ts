import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OperationTypeNode } from 'graphql';
import type { ForwardMs } from '../../clock.js';
import type { GatewayError } from '../../errors.js';
import type { ResultSink } from '../../graph/subscriptions/result-sink.js';
import type { Demand } from '../../upstream/cache/demand.js';
import type { Dependencies } from '../../upstream/cache/dependencies.js';
import { newCostMeter } from '../../upstream/read/read.js';
import type { Client } from '../auth/auth.js';

/** The client and the transport-level options of an operation. */
export interface OperationOrigin {
  readonly client: Client;
  /** When it arrived, by the forward clock. */
  readonly startedAtMs: ForwardMs;
  /** True if the client asked for `extensions.upstream`. */
  readonly wantsCost: boolean;
  /** Greatest age of cached responses that may be used; null without a demand. */
  readonly demand?: Demand | null;
  /** Headers of the HTTP request, which can hold the client's trace context. */
  readonly headers?: IncomingHttpHeaders;
  /** Receives results directly, bypassing graphql-ws; only over a WebSocket. */
  readonly sink?: ResultSink | undefined;
}

/** One operation in progress, over HTTP or a WebSocket. Parts that few operations need are created on demand. */
export class Operation {
  /** Request id: on every log line of the operation and in the response. */
  readonly id: string;
  readonly client: Client;
  readonly startedAtMs: ForwardMs;
  readonly wantsCost: boolean;
  readonly headers: IncomingHttpHeaders | undefined;
  readonly sink: ResultSink | undefined;
  demand: Demand | null;
  /** True if the client takes an answer in parts (`@defer`, `@stream`). */
  takesParts = false;
  readonly meter = newCostMeter();
  /** Records the responses that the answer depends on; null for an answer that is not cached. */
  dependencies: Dependencies | null = null;
  /** Known once the document has been read; for the log and the metrics. */
  name: string | null = null;
  kind: OperationTypeNode | 'waveform' | null = null;
  #errorCodes: Set<string> | null = null;
  #leaving: AbortController | null = null;
  #reason: GatewayError | null = null;

  constructor(
    { client, startedAtMs, wantsCost, demand = null, headers, sink }: OperationOrigin,
    id: string = randomUUID(),
  ) {
    this.id = id;
    this.client = client;
    this.startedAtMs = startedAtMs;
    this.wantsCost = wantsCost;
    this.demand = demand;
    this.headers = headers;
    this.sink = sink;
  }

  /** Aborted when the client disconnects, cancels the operation or loses its access. */
  get signal(): AbortSignal {
    if (this.#leaving === null) {
      this.#leaving = new AbortController();
      if (this.#reason !== null) this.#leaving.abort(this.#reason);
    }
    return this.#leaving.signal;
  }

  get isAbandoned(): boolean {
    return this.#reason !== null;
  }

  /** Cancels the work. A subscription ends with the reason as its error, unless that is `ClientGone`. */
  abandon(reason: GatewayError): void {
    this.#reason ??= reason;
    this.#leaving?.abort(reason);
  }

  /** Codes of the errors that the client was sent, or that it went away. */
  get errorCodes(): ReadonlySet<string> {
    return this.#errorCodes ?? none;
  }

  addErrorCode(code: unknown): void {
    this.#errorCodes ??= new Set();
    this.#errorCodes.add(String(code));
  }
}

const none: ReadonlySet<string> = new Set();

/** Called at the end of every operation. */
export type OnFinished = (operation: Operation, finished: Finished) => void;

export interface Finished {
  readonly durationMs: number;
  /** HTTP status; null over a WebSocket, and where the client went away before it. */
  readonly status: number | null;
}

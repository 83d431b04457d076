import { randomUUID } from 'node:crypto';
import type { OperationTypeNode } from 'graphql';
import type { ClientGone } from '../../errors.js';
import type { ResultSink } from '../../graph/subscriptions/result-sink.js';
import type { Demand } from '../../upstream/cache/demand.js';
import type { Dependencies } from '../../upstream/cache/dependencies.js';
import { newCostMeter } from '../../upstream/read/read.js';
import type { Client } from '../auth/auth.js';

/** How an operation came, and from whom. */
export interface OperationOrigin {
  readonly client: Client;
  /** Whether the client asked for `extensions.upstream`. */
  readonly wantsCost: boolean;
  /** How old the cached responses may be that it is answered from; null without a demand. */
  readonly demand?: Demand | null;
  /** W3C trace context that the client sent. */
  readonly traceparent: string | null;
  /** Where results go straight to, over a WebSocket. */
  readonly sink?: ResultSink | undefined;
}

/** One operation on its way through the gateway, over HTTP or a WebSocket. What few operations need is made on demand. */
export class Operation {
  /** Joins the log's lines; the response names it. */
  readonly id: string;
  readonly client: Client;
  readonly wantsCost: boolean;
  readonly traceparent: string | null;
  readonly sink: ResultSink | undefined;
  demand: Demand | null;
  readonly meter = newCostMeter();
  /** Where it is noted what the answer is made of; null for an answer that is not kept in any case. */
  dependencies: Dependencies | null = null;
  /** Known once the document has been read; for the log and the metrics. */
  name: string | null = null;
  kind: OperationTypeNode | 'waveform' | null = null;
  #errorCodes: Set<string> | null = null;
  #leaving: AbortController | null = null;
  #reason: ClientGone | null = null;

  constructor(
    { client, wantsCost, demand = null, traceparent, sink }: OperationOrigin,
    id: string = randomUUID(),
  ) {
    this.id = id;
    this.client = client;
    this.wantsCost = wantsCost;
    this.demand = demand;
    this.traceparent = traceparent;
    this.sink = sink;
  }

  /** Aborted when the client goes away. */
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

  /** The client has gone, or does not want it any more. */
  abandon(reason: ClientGone): void {
    this.#reason ??= reason;
    this.#leaving?.abort(reason);
  }

  /** Codes of the errors that the client was sent. */
  get errorCodes(): ReadonlySet<string> {
    return this.#errorCodes ?? none;
  }

  addErrorCode(code: unknown): void {
    this.#errorCodes ??= new Set();
    this.#errorCodes.add(String(code));
  }
}

const none: ReadonlySet<string> = new Set();

/** Told of every operation when it is over. */
export type OnFinished = (operation: Operation, finished: Finished) => void;

export interface Finished {
  readonly durationMs: number;
  /** HTTP status; null over a WebSocket. */
  readonly status: number | null;
}

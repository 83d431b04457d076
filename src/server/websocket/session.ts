import { ClientGone } from '../../errors.js';
import type { ResultSink } from '../../graph/subscriptions/result-sink.js';
import type { Client, Credentials } from '../auth/auth.js';
import type { Operation } from '../execution/operation.js';

export interface SessionParts {
  readonly credentials: Credentials;
  readonly wantsCost: boolean;
  close(code: number, reason: string): void;
  /** Where results of the operation `id` go straight to. */
  outletFor(id: string): ResultSink;
}

interface Running {
  readonly operation: Operation;
  readonly startedAtMs: number;
}

/** One socket: who is on it, and what runs there. */
export class SocketSession {
  readonly parts: SessionParts;
  readonly running = new Map<string, Running>();
  readonly #endings: (() => void)[] = [];
  #client: Client | null = null;
  #isOver = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  get client(): Client | null {
    return this.#client;
  }

  /** Takes the client in; false when the socket has gone meanwhile. */
  admit(client: Client, onEnd: () => void): boolean {
    if (this.#isOver) return false;
    this.#client = client;
    this.#endings.push(
      onEnd,
      client.whenEnded(() => this.parts.close(4403, 'Forbidden')),
    );
    return true;
  }

  /**
   * A client that no longer wants a query says so with a `complete` frame, which graphql-ws heeds for subscriptions
   * alone: a query would go on to its end and spend budget for nobody.
   */
  seeComplete(text: string): void {
    if (this.running.size === 0 || !text.includes('"complete"')) return;
    try {
      const message: unknown = JSON.parse(text);
      if (typeof message !== 'object' || message === null) return;
      const { type, id } = message as { type?: unknown; id?: unknown };
      if (type === 'complete' && typeof id === 'string') {
        this.running.get(id)?.operation.abandon(new ClientGone('The client no longer wants this'));
      }
    } catch {
      // What is no JSON is the protocol's to refuse.
    }
  }

  end(): void {
    this.#isOver = true;
    for (const { operation } of this.running.values()) {
      operation.abandon(new ClientGone('The client has gone'));
    }
    for (const run of this.#endings.splice(0)) run();
  }
}

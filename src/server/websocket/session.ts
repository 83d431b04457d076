import { ClientGone } from '../../errors.js';
import type { ResultSink } from '../../graph/subscriptions/result-sink.js';
import type { Client, Credentials } from '../auth/auth.js';
import type { Operation } from '../execution/operation.js';

export interface SessionParts {
  readonly credentials: Credentials;
  readonly wantsCost: boolean;
  close(code: number, reason: string): void;
  /** The sink for results of the operation `id`, which bypass graphql-ws. */
  sinkFor(id: string): ResultSink;
}

/** One socket: its client and its running operations. */
export class SocketSession {
  readonly parts: SessionParts;
  readonly running = new Map<string, Operation>();
  readonly #endings: (() => void)[] = [];
  #client: Client | null = null;
  #isOver = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  get client(): Client | null {
    return this.#client;
  }

  /** Assigns the authenticated client; false when the socket has closed meanwhile. */
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
   * A client cancels a query with a `complete` message, which graphql-ws handles for subscriptions only: without this
   * a cancelled query would continue and spend budget.
   */
  seeComplete(text: string): void {
    if (this.running.size === 0 || !text.includes('"complete"')) return;
    try {
      const message: unknown = JSON.parse(text);
      if (typeof message !== 'object' || message === null) return;
      const { type, id } = message as { type?: unknown; id?: unknown };
      if (type === 'complete' && typeof id === 'string') {
        this.running.get(id)?.abandon(new ClientGone('The client no longer wants this'));
      }
    } catch {
      // graphql-ws refuses malformed JSON itself.
    }
  }

  end(): void {
    this.#isOver = true;
    for (const operation of this.running.values()) {
      operation.abandon(new ClientGone('The client has gone'));
    }
    for (const run of this.#endings.splice(0)) run();
  }
}

import type { GatewayError } from '../../errors.js';
import type { Sink } from './sink.js';

// Payloads buffered ahead of the reader: enough that a reader that keeps up never causes a wait.
const mostBuffered = 16;

/**
 * A sink that is read as an async iterator by server-sent events, which pull the next payload when the socket has room.
 * `return` ends it even while a `next` is pending; an async generator's `return` would wait for that.
 */
export class PullSink<P> implements Sink<P>, AsyncGenerator<P, void, void> {
  readonly #onReturn: () => void;
  readonly #failure: ((error: GatewayError) => P) | null;
  readonly #buffer: P[] = [];
  readonly #waiting: Waiting<P>[] = [];
  #whenReady: (() => void) | null = null;
  #end: { readonly error: GatewayError | null } | null = null;

  /**
   * @param onReturn called when the reader has left
   * @param failure makes the payload that reports an error to the reader; without it, `next` rejects
   */
  constructor(onReturn: () => void, failure: ((error: GatewayError) => P) | null) {
    this.#onReturn = onReturn;
    this.#failure = failure;
  }

  get isReady(): boolean {
    return this.#buffer.length < mostBuffered;
  }

  send(payload: P): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve({ done: false, value: payload });
    else this.#buffer.push(payload);
  }

  whenReady(run: () => void): void {
    this.#whenReady = run;
  }

  end(error: GatewayError | null): void {
    if (this.#end) return;
    this.#end = { error };
    this.#whenReady = null;
    if (error && this.#failure) {
      this.send(this.#failure(error));
      this.#end = { error: null };
    }
    for (const waiting of this.#waiting.splice(0)) void this.next().then(waiting.resolve, waiting.reject);
  }

  next(): Promise<IteratorResult<P, void>> {
    const payload = this.#buffer.shift();
    if (payload !== undefined) {
      if (this.isReady) this.#notifyReady();
      return Promise.resolve({ done: false, value: payload });
    }
    if (this.#end?.error) {
      const { error } = this.#end;
      this.#end = { error: null };
      return Promise.reject(error);
    }
    if (this.#end) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<P, void>> {
    this.#buffer.length = 0;
    if (!this.#end) {
      this.end(null);
      this.#onReturn();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  throw(): Promise<IteratorResult<P, void>> {
    return this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #notifyReady(): void {
    const run = this.#whenReady;
    this.#whenReady = null;
    if (run) queueMicrotask(run);
  }
}

interface Waiting<P> {
  readonly resolve: (result: IteratorResult<P, void>) => void;
  readonly reject: (error: unknown) => void;
}

import type { GatewayError } from '../../errors.js';
import type { Sink } from './sink.js';

// What is taken before anyone asks for it: enough that a reader who keeps up is never waited for.
const mostTaken = 16;

/**
 * A sink that is read as an async iterator: by server-sent events, which ask for the next payload when there is room
 * for it on the wire. `return` ends it even while somebody waits for the next payload, which an async generator's would
 * not.
 */
export class PullSink<P> implements Sink<P>, AsyncGenerator<P, void, void> {
  readonly #onReturn: () => void;
  readonly #failure: ((error: GatewayError) => P) | null;
  readonly #taken: P[] = [];
  readonly #waiting: Waiting<P>[] = [];
  #whenReady: (() => void) | null = null;
  #end: { readonly error: GatewayError | null } | null = null;

  /**
   * @param onReturn the reader has left
   * @param failure the payload that tells the reader of an error; without it, `next` rejects
   */
  constructor(onReturn: () => void, failure: ((error: GatewayError) => P) | null) {
    this.#onReturn = onReturn;
    this.#failure = failure;
  }

  get isReady(): boolean {
    return this.#taken.length < mostTaken;
  }

  send(payload: P): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve({ done: false, value: payload });
    else this.#taken.push(payload);
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
    const payload = this.#taken.shift();
    if (payload !== undefined) {
      if (this.isReady) this.#tellReady();
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
    this.#taken.length = 0;
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

  #tellReady(): void {
    const run = this.#whenReady;
    this.#whenReady = null;
    if (run) queueMicrotask(run);
  }
}

interface Waiting<P> {
  readonly resolve: (result: IteratorResult<P, void>) => void;
  readonly reject: (error: unknown) => void;
}

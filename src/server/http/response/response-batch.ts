import type { ServerResponse } from 'node:http';

// As many cached answers take less than half a millisecond, for which the first of them waits.
const mostWaiting = 16;

/**
 * Ends the responses to all requests that one iteration of the event loop has received together. A client that sleeps is
 * woken by the first of them and takes the others as they come; to wake it for each takes the kernel as long as all the
 * rest of a cached answer.
 */
export class ResponseBatch {
  #waiting: { readonly response: ServerResponse; readonly content: Buffer }[] = [];

  /** Ends the response with its content, at the latest after this iteration. */
  end(response: ServerResponse, content: Buffer): void {
    this.#waiting.push({ response, content });
    if (this.#waiting.length === 1) setImmediate(() => this.flush());
    else if (this.#waiting.length === mostWaiting) this.flush();
  }

  /** Ends them now; to be called before work that takes longer. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { response, content } of waiting) response.end(content);
  }
}

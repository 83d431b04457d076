/**
 * A writer that cannot be held up leaves its source before its reader is further behind, and resumes from it later. As
 * many as the gateway holds for a slow subscriber (docs/behaviour.md 9.5).
 */
export const longestQueue = 1_000;

/** Hands values from callbacks to one reader, in order; the end or the error comes after the values before it. */
export class Queue<T> {
  readonly #values: T[] = [];
  readonly #onFull: () => void;
  #end: { readonly error?: unknown } | null = null;
  #wake = () => {};
  #waiting: (() => void)[] = [];

  /** @param onFull ends the queue, where its reader is `longestQueue` values behind */
  constructor(onFull: () => void) {
    this.#onFull = onFull;
  }

  /** Values behind the end are dropped. */
  push(value: T): void {
    if (this.#end) return;
    this.#values.push(value);
    this.#wake();
    if (this.#values.length >= longestQueue) this.#onFull();
  }

  /** Resolves when the reader asks for more than there is, or at the end: a writer that can wait does so between values. */
  async drained(): Promise<void> {
    if (this.#end) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake();
    this.#resume();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      for (let value = this.#values.shift(); value !== undefined; value = this.#values.shift()) yield value;
      if (this.#end && 'error' in this.#end) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#resume();
      });
    }
  }

  #resume(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

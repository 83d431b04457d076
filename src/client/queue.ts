/** Hands values from callbacks to one reader, in order; the end or the error comes after the values before it. */
export class Queue<T> {
  readonly #values: T[] = [];
  #end: { readonly error?: unknown } | null = null;
  #wake = () => {};

  push(value: T): void {
    this.#values.push(value);
    this.#wake();
  }

  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      for (let value = this.#values.shift(); value !== undefined; value = this.#values.shift()) yield value;
      if (this.#end && 'error' in this.#end) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

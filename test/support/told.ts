/**
 * Everything that the gateway of a test told: lines of its log, answers, messages. When it closes, all of that is
 * searched for the secrets that it used, so that the whole suite is one test of what may not be told.
 */
export class Told {
  readonly #texts: string[] = [];
  readonly #reading = new Set<Promise<void>>();

  add(text: string): void {
    this.#texts.push(text);
  }

  /** An answer that the test may read itself or not at all; streams are left to whoever reads them. */
  addAnswer(response: Response): void {
    this.add(JSON.stringify([...response.headers]));
    if (!/json|text\/(plain|html)/.test(response.headers.get('content-type') ?? '')) return;
    const read = response
      .clone()
      .text()
      .then((text) => this.add(text))
      // The test left before its end.
      .catch(() => {});
    this.#reading.add(read);
    void read.finally(() => this.#reading.delete(read));
  }

  /** @throws when one of the secrets, or anything with the form of a key, is in it */
  async expectNo(secrets: readonly string[]): Promise<void> {
    await Promise.all(this.#reading);
    for (const text of this.#texts) {
      const found = secrets.find((secret) => text.includes(secret)) ?? /svc_sk_\w+/.exec(text)?.[0];
      if (found === undefined) continue;
      const at = text.indexOf(found);
      throw new Error(`The gateway told a secret: …${text.slice(Math.max(0, at - 200), at + found.length)}`);
    }
  }
}

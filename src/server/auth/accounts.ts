import { Account, type AccountClient, type AccountOptions, keyHash } from './account.js';

export type AccountsOptions<Client> = Omit<AccountOptions<Client>, 'hash'> & { readonly maxAccounts: number };

// What upstream allows the key is known only to its account: it outlives its last tenant by the minute that counts, and
// so does upstream's refusal, or else every new try would be a new request.
const lingerMs = 60_000;

/** The accounts of one interface, one for each key. */
export class Accounts<Client extends AccountClient> {
  readonly #options: AccountsOptions<Client>;
  readonly #known = new Map<
    string,
    { readonly account: Account<Client>; tenants: number; leftAtMs: number }
  >();

  constructor(options: AccountsOptions<Client>) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }

  /** For one more tenant. */
  join(key: string): Account<Client> {
    const hash = keyHash(key);
    let known = this.#known.get(hash);
    if (!known) {
      if (this.#known.size >= this.#options.maxAccounts) this.#giveUpOne();
      known = { account: new Account(key, { hash, ...this.#options }), tenants: 0, leftAtMs: 0 };
      this.#known.set(hash, known);
    }
    known.tenants += 1;
    return known.account;
  }

  leave({ hash }: Account<Client>): void {
    const known = this.#known.get(hash);
    if (!known) return;
    known.tenants -= 1;
    known.leftAtMs = this.#options.clock.now();
  }

  sweep(): void {
    const nowMs = this.#options.clock.now();
    for (const [hash, { tenants, leftAtMs }] of [...this.#known]) {
      if (tenants === 0 && nowMs - leftAtMs >= lingerMs) this.#forget(hash);
    }
  }

  close(): void {
    for (const hash of [...this.#known.keys()]) this.#forget(hash);
  }

  #giveUpOne(): void {
    for (const [hash, { tenants }] of this.#known) {
      if (tenants > 0) continue;
      this.#forget(hash);
      return;
    }
  }

  #forget(hash: string): void {
    this.#known.get(hash)?.account.close();
    this.#known.delete(hash);
  }
}

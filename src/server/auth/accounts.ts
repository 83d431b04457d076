import { type ForwardMs, longAgo, minuteMs } from '../../clock.js';
import { Account, type AccountClient, type AccountOptions, keyHash } from './account.js';

export type AccountsOptions<Client> = Omit<AccountOptions<Client>, 'hash'> & { readonly maxAccounts: number };

// The account holds the rate limit state of the key, so it outlives its last tenant by the minute of the sliding
// window. A refusal is remembered as long; otherwise every new attempt would cost an upstream request.
const lingerMs = minuteMs;

/** The accounts of one interface, one for each key. */
export class Accounts<Client extends AccountClient> {
  readonly #options: AccountsOptions<Client>;
  readonly #known = new Map<
    string,
    { readonly account: Account<Client>; tenants: number; leftAtMs: ForwardMs }
  >();

  constructor(options: AccountsOptions<Client>) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }

  /** The account of the key, created when needed; counts one more tenant. */
  join(key: string): Account<Client> {
    const hash = keyHash(key);
    let known = this.#known.get(hash);
    if (!known) {
      if (this.#known.size >= this.#options.maxAccounts) this.#evictOneUnused();
      known = { account: new Account(key, { hash, ...this.#options }), tenants: 0, leftAtMs: longAgo };
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
      if (tenants === 0 && nowMs - leftAtMs >= lingerMs) this.#evict(hash);
    }
  }

  close(): void {
    for (const hash of [...this.#known.keys()]) this.#evict(hash);
  }

  #evictOneUnused(): void {
    for (const [hash, { tenants }] of this.#known) {
      if (tenants > 0) continue;
      this.#evict(hash);
      return;
    }
  }

  #evict(hash: string): void {
    this.#known.get(hash)?.account.close();
    this.#known.delete(hash);
  }
}

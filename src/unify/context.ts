import { type Clock, type ForwardMs, momentAt, type UnixMs } from '../clock.js';
import { Slices } from '../event-loop-slices.js';
import type { Log } from '../log.js';
import type { CatalogueClient } from '../upstream/catalogue/client.js';
import type { ProjectClient } from '../upstream/project/client.js';
import { newCostMeter, type ReadScope } from '../upstream/read/read.js';
import { Instant } from './time/instant.js';

// Values that one event-loop slice converts or serialises, which takes some ten milliseconds. Measured with 10,000
// under ten clients with large answers: the event-loop delay was half as long again, and fewer requests were answered.
const valuesPerSlice = 2_000;

/**
 * Everything that is separate per key (docs/behaviour.md 7): the clients that hold the keys, and all state derived from
 * their responses. With the gateway's own keys there is one tenant; in `passthrough` one for each pair of keys.
 */
export class Tenant {
  /** Null where the interface is not configured, or the client sent no key for it. */
  readonly project: ProjectClient | null;
  readonly catalogue: CatalogueClient | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the tenant is dropped or the gateway stops. */
  readonly signal: AbortSignal;
  /** Distinguishes the cursors of one pair of keys from another's, after a restart too. Not a secret. */
  readonly scope: string;
  /** Event-loop slices for long lists, so that one operation does not delay the others. Counted in values. */
  readonly slices = new Slices(valuesPerSlice);
  readonly #shared = new Map<unknown, unknown>();

  constructor(
    parts: Pick<Tenant, 'project' | 'catalogue' | 'clock' | 'log' | 'signal'> & { readonly scope?: string },
  ) {
    this.project = parts.project;
    this.catalogue = parts.catalogue;
    this.clock = parts.clock;
    this.log = parts.log;
    this.signal = parts.signal;
    this.scope = parts.scope ?? '';
  }

  /** State that all operations of this tenant share, made by `make` on first use: `tenant.perTenant(createInventory)`. */
  perTenant<T>(make: (tenant: Tenant) => T): T {
    return memo(this.#shared, make, this);
  }

  /** A context for work that no client waits for. */
  background(): UnifyContext {
    return new UnifyContext(this, {
      signal: this.signal,
      priority: 'background',
      operationKey: {},
      meter: newCostMeter(),
    });
  }
}

/** State that the reads of one operation (or of one delivered change, or of one poll) share. Never outlives it. */
export class UnifyContext {
  readonly tenant: Tenant;
  readonly scope: ReadScope;
  readonly #once = new Map<unknown, unknown>();

  constructor(tenant: Tenant, scope: ReadScope) {
    this.tenant = tenant;
    this.scope = scope;
  }

  get project(): ProjectClient | null {
    return this.tenant.project;
  }

  get catalogue(): CatalogueClient | null {
    return this.tenant.catalogue;
  }

  /** An answer for which the clock was read is not cached: use `hasPassed` where a comparison suffices. */
  get clock(): Clock {
    this.scope.dependencies?.refuse('the clock was read');
    return this.tenant.clock;
  }

  /** True when the date lies in the past. A cached answer that depends on it is valid only until then. */
  hasPassed(dateMs: UnixMs): boolean {
    return this.hasExpired(momentAt(this.tenant.clock, dateMs));
  }

  /** As `hasPassed`, for a moment of the forward clock. */
  hasExpired(untilMs: ForwardMs): boolean {
    if (this.tenant.clock.now() > untilMs) return true;
    this.scope.dependencies?.endsAfter(untilMs);
    return false;
  }

  /** The date of a moment of the forward clock, such as a read. */
  dateOf(atMs: ForwardMs): Instant {
    return Instant.fromMs(this.tenant.clock.wallMs(atMs));
  }

  get slices(): Slices {
    return this.tenant.slices;
  }

  /** State of this operation, such as its loaders, made by `make` on first use. */
  once<T>(make: (context: UnifyContext) => T): T {
    return memo(this.#once, make, this);
  }

  /** As `tenant.perTenant`. Such state can change at any time, so an answer that uses it is not cached. */
  perTenant<T>(make: (tenant: Tenant) => T): T {
    this.scope.dependencies?.refuse(`${make.name} was used`);
    return this.tenant.perTenant(make);
  }

  /** As `perTenant`, for state that records by itself which parts of it an answer depends on; the answer can be cached. */
  tracked<T>(make: (tenant: Tenant) => T): T {
    return this.tenant.perTenant(make);
  }
}

function memo<Owner, T>(made: Map<unknown, unknown>, make: (owner: Owner) => T, owner: Owner): T {
  if (!made.has(make)) made.set(make, make(owner));
  return made.get(make) as T;
}

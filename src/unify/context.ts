import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { CatalogueClient } from '../upstream/catalogue/client.js';
import type { ProjectClient } from '../upstream/project/client.js';
import { newCostMeter, type ReadScope } from '../upstream/read/read.js';
import { Slices } from '../upstream/slices.js';

// Values that one turn of the event loop makes of records, or puts into answers: some ten milliseconds. With 10,000 the delay
// of the event loop under ten clients with large answers was half as long again, and fewer were answered.
const valuesPerTurn = 2_000;

/**
 * Everything that is kept apart by key (docs/behaviour.md 7): the clients that hold the keys, and what has been learnt with
 * them. With the gateway's own keys there is one tenant; in `passthrough` one for each pair of keys.
 */
export class Tenant {
  /** Null where the interface is not configured, or the client sent no key for it. */
  readonly project: ProjectClient | null;
  readonly catalogue: CatalogueClient | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the tenant is dropped or the gateway stops. */
  readonly signal: AbortSignal;
  /** Sets the cursors of one pair of keys apart from another's, after a restart too. Never a secret. */
  readonly scope: string;
  /** How long lists are made and answered without holding up the others, counted in values. */
  readonly slices = new Slices(valuesPerTurn);
  readonly #kept = new Map<unknown, unknown>();

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

  /** What all operations of this tenant share, made by `make` on first use: `tenant.kept(createInventory)`. */
  kept<T>(make: (tenant: Tenant) => T): T {
    return memo(this.#kept, make, this);
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

/** What the reads of one operation (or of one delivered change, or of one poll) share. Never outlives it. */
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

  /** An answer for which the clock was read is not kept: use `hasPassed` where a comparison will do. */
  get clock(): Clock {
    this.scope.dependencies?.refuse('the clock was read');
    return this.tenant.clock;
  }

  /** Whether a moment lies in the past. Until it does, the answer holds; from then on it may be another one. */
  hasPassed(ms: number): boolean {
    if (this.tenant.clock.now() > ms) return true;
    this.scope.dependencies?.endsAfter(ms);
    return false;
  }

  get slices(): Slices {
    return this.tenant.slices;
  }

  /** What this operation shares, made by `make` on first use: its loaders, say. */
  once<T>(make: (context: UnifyContext) => T): T {
    return memo(this.#once, make, this);
  }

  /** As of the tenant. What was learnt from earlier reads can change at any time: an answer that uses it is not kept. */
  kept<T>(make: (tenant: Tenant) => T): T {
    this.scope.dependencies?.refuse(`${make.name} was used`);
    return this.tenant.kept(make);
  }

  /** As `kept`, for what notes by itself which of it an answer depends on. */
  tracked<T>(make: (tenant: Tenant) => T): T {
    return this.tenant.kept(make);
  }
}

function memo<Owner, T>(made: Map<unknown, unknown>, make: (owner: Owner) => T, owner: Owner): T {
  if (!made.has(make)) made.set(make, make(owner));
  return made.get(make) as T;
}

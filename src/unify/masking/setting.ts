import { type ForwardMs, longAgo, plus } from '../../clock.js';
import { GatewayError, type UpstreamTimeout, UpstreamUnavailable } from '../../errors.js';
import type { Maybe } from '../../maybe.js';
import { unchanged } from '../../upstream/cache/dependencies.js';
import { known } from '../../upstream/decode/fields.js';
import type { ProjectClient } from '../../upstream/project/client.js';
import type { WireProject } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';
import type { Tenant, UnifyContext } from '../context.js';
import { createInventory } from '../sensor/inventory/inventory.js';

/** `unknown`: a configured project interface has not answered yet; treated as masked (docs/behaviour.md 6.4). */
export type Mask = 'masked' | 'open' | 'unknown';

// docs/behaviour.md 6.4.
export const revalidateEveryMs = 30_000;

/** The last known masking setting of the project, shared by all operations of one key. */
export class MaskSetting {
  readonly #tenant: Tenant;
  mask: Mask;
  /** Read time of the response that the setting is from. */
  saidAtMs: ForwardMs = longAgo;
  /** Responses of the project read before this moment may have been made under the other setting. */
  changedAtMs: ForwardMs = longAgo;
  /** The failure of the last attempt to read the setting; null after a success. */
  failure: unknown = null;
  /** Read time of the latest record that contradicts the setting. */
  #doubtedAtMs: ForwardMs = longAgo;
  /** Contradictions up to this read time have been resolved by reading the setting again. */
  #answeredMs: ForwardMs = longAgo;
  /** Incremented with every change of this object's state. */
  #version = 0;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
    this.mask = tenant.project ? 'unknown' : 'open';
  }

  /** Reads the setting unless it is at most 30 seconds old. Where the read fails, the last known setting holds. */
  read(ctx: UnifyContext): Maybe<Mask> {
    this.note(ctx);
    if (!ctx.project) return this.mask;
    // With a freshness demand of the client, the read itself decides whether the cached response is recent enough.
    const isDue =
      ctx.scope.demand || this.#isDoubted || ctx.hasExpired(plus(this.saidAtMs, revalidateEveryMs));
    if (!isDue) return this.mask;
    return this.#ask(ctx, ctx.project);
  }

  /** Records that the answer depends on the present state of the setting. */
  note({ scope }: UnifyContext): void {
    scope.dependencies?.add(this, () => unchanged(() => this.#version));
  }

  async #ask(ctx: UnifyContext, project: ProjectClient): Promise<Mask> {
    ctx.scope.dependencies?.refuse('the masking setting was asked for');
    const attempt = ctx.once(createAttempt);
    // One failed read per operation: a hundred sensors must not repeat it a hundred times.
    if (attempt.failed) return this.mask;
    try {
      const { value } = await this.ask(ctx, project);
      if (known(value.location_masked) === null) {
        throw new UpstreamUnavailable('The project did not say whether its positions are masked');
      }
    } catch (error) {
      ctx.scope.signal.throwIfAborted();
      if (!(error instanceof GatewayError)) throw error;
      attempt.failed = true;
      this.failure = error;
      this.#version++;
    }
    return this.mask;
  }

  /** Another read of this operation has timed out at the interface, so this operation does not read the setting. */
  giveUp(ctx: UnifyContext, failure: UpstreamTimeout): void {
    ctx.once(createAttempt).failed = true;
    if (this.mask === 'unknown') this.failure = failure;
    this.#version++;
  }

  /** The project's record: at most 30 seconds old, and read after the last contradiction. */
  async ask(ctx: UnifyContext, client: ProjectClient): Promise<Read<WireProject>> {
    const doubtedAtMs = this.#doubtedAtMs;
    // A response from the same millisecond as the contradiction may precede it, hence one millisecond less.
    this.note(ctx);
    const sinceDoubtMs = this.#isDoubted ? Math.max(0, ctx.clock.now() - doubtedAtMs - 1) : revalidateEveryMs;
    const maxAgeMs = Math.min(sinceDoubtMs, revalidateEveryMs, ctx.scope.maxAgeMs ?? revalidateEveryMs);
    const read = await client.project({ ...ctx.scope, maxAgeMs });
    if (known(read.value.location_masked) !== null && doubtedAtMs > this.#answeredMs) {
      this.#answeredMs = doubtedAtMs;
      this.#version++;
    }
    this.#apply(read);
    return read;
  }

  /**
   * Call when a record read at this moment contradicts the setting: the setting must then be read after that moment.
   */
  doubt(readAtMs: ForwardMs): void {
    if (readAtMs < this.saidAtMs || readAtMs <= this.#doubtedAtMs) return;
    this.#doubtedAtMs = readAtMs;
    this.#version++;
  }

  /** True until the first discard: entries of another process in a shared cache can be older than the setting. */
  get hasNeverChanged(): boolean {
    return this.changedAtMs === longAgo;
  }

  /** Discards every response that was read before the setting was last read. */
  discardOlder(): void {
    if (this.changedAtMs >= this.saidAtMs) return;
    this.changedAtMs = this.saidAtMs;
    this.#version++;
    this.#tenant.project?.discardCache();
    this.#tenant.perTenant(createInventory).project?.discard();
  }

  get #isDoubted(): boolean {
    return this.#doubtedAtMs > this.#answeredMs;
  }

  #apply(read: Read<WireProject>): void {
    const { value, readAtMs } = read;
    const masked = known(value.location_masked);
    if (masked === null || readAtMs < this.saidAtMs) return;
    const mask = masked ? 'masked' : 'open';
    const changed = this.mask !== 'unknown' && this.mask !== mask;
    if (this.mask !== mask || this.saidAtMs !== readAtMs || this.failure !== null) this.#version++;
    this.mask = mask;
    this.saidAtMs = readAtMs;
    this.failure = null;
    if (changed) this.discardOlder();
  }
}

/** For `tracked`: one of each tenant. */
export function createMaskSetting(tenant: Tenant): MaskSetting {
  return new MaskSetting(tenant);
}

/** A position must not be shown while it is not known whether it is masked. */
class PositionWithheld extends GatewayError {
  readonly code: string;

  constructor(cause: GatewayError) {
    super(`Withheld until the project has said whether positions are masked. ${cause.message}`, {
      upstream: cause.upstream,
      retryAfterS: cause.retryAfterS,
      cause,
    });
    this.code = cause.code;
  }
}

/** The error for a position that is withheld because of `failure`. */
export function withheldBy(failure: unknown): Error {
  if (failure instanceof GatewayError) return new PositionWithheld(failure);
  if (failure instanceof Error) return failure;
  return new PositionWithheld(
    new UpstreamUnavailable('The record of the sensor and the project disagree on it: ask again'),
  );
}

const createAttempt = () => ({ failed: false });

import { GatewayError, type UpstreamTimeout, UpstreamUnavailable } from '../../errors.js';
import type { Maybe } from '../../maybe.js';
import { unchanged } from '../../upstream/cache/dependencies.js';
import { known } from '../../upstream/decode/fields.js';
import type { ProjectClient } from '../../upstream/project/client.js';
import type { WireProject } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';
import type { Tenant, UnifyContext } from '../context.js';
import { createInventory } from '../sensor/inventory/inventory.js';

/** `unknown`: a configured project interface has not said yet, which is as good as masked (docs/behaviour.md 6.4). */
export type Mask = 'masked' | 'open' | 'unknown';

// docs/behaviour.md 6.4.
export const lookEveryMs = 30_000;

/** Whether the project masks its positions, as it said last. Kept for all operations of one key. */
export class MaskSetting {
  readonly #tenant: Tenant;
  mask: Mask;
  /** When the project said so. */
  saidAtMs = Number.NEGATIVE_INFINITY;
  /** What was read from the project before this moment may be of the other setting. */
  changedAtMs = Number.NEGATIVE_INFINITY;
  /** Why it is not known, or not known better. */
  failure: unknown = null;
  /** When the latest record was read that says otherwise, and up to when such doubts have been answered by a look. */
  #doubtedAtMs = Number.NEGATIVE_INFINITY;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** Changes whenever anything of the setting does. */
  #version = 0;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
    this.mask = tenant.project ? 'unknown' : 'open';
  }

  /** Asks the project unless it said within the last 30 seconds. Where it cannot be asked, what it said last holds. */
  look(ctx: UnifyContext): Maybe<Mask> {
    this.note(ctx);
    if (!ctx.project) return this.mask;
    // What the client demands decides whether that is recent enough: the read itself knows.
    const isDue = ctx.scope.demand || this.#isDoubted || ctx.hasPassed(this.saidAtMs + lookEveryMs);
    if (!isDue) return this.mask;
    return this.#ask(ctx, ctx.project);
  }

  /** The answer depends on what is known of the setting at this moment. */
  note({ scope }: UnifyContext): void {
    scope.dependencies?.add(this, () => unchanged(() => this.#version));
  }

  async #ask(ctx: UnifyContext, project: ProjectClient): Promise<Mask> {
    ctx.scope.dependencies?.refuse('the masking setting was asked for');
    const looks = ctx.once(createLooks);
    // One failure answers for the whole operation: a hundred sensors do not ask a hundred times.
    if (looks.failed) return this.mask;
    try {
      const { value } = await this.ask(ctx, project);
      if (known(value.location_masked) === null) {
        throw new UpstreamUnavailable('The project did not say whether its positions are masked');
      }
    } catch (error) {
      ctx.scope.signal.throwIfAborted();
      if (!(error instanceof GatewayError)) throw error;
      looks.failed = true;
      this.failure = error;
      this.#version++;
    }
    return this.mask;
  }

  /** The interface has just kept this operation waiting for nothing: it is not asked again by it. */
  giveUp(ctx: UnifyContext, failure: UpstreamTimeout): void {
    ctx.once(createLooks).failed = true;
    if (this.mask === 'unknown') this.failure = failure;
    this.#version++;
  }

  /** The project as it is now: at most 30 seconds old, and later than the last doubt. */
  async ask(ctx: UnifyContext, client: ProjectClient): Promise<Read<WireProject>> {
    const doubtedAtMs = this.#doubtedAtMs;
    // What was said in the millisecond of the doubt may have been said before it.
    this.note(ctx);
    const sinceDoubtMs = this.#isDoubted ? Math.max(0, ctx.clock.now() - doubtedAtMs - 1) : lookEveryMs;
    const maxAgeMs = Math.min(sinceDoubtMs, lookEveryMs, ctx.scope.maxAgeMs ?? lookEveryMs);
    const said = await client.project({ ...ctx.scope, maxAgeMs });
    if (known(said.value.location_masked) !== null && doubtedAtMs > this.#answeredMs) {
      this.#answeredMs = doubtedAtMs;
      this.#version++;
    }
    this.#hear(said);
    return said;
  }

  /** A record read at this moment says otherwise: the next look must be later than that. */
  doubt(readAtMs: number): void {
    if (readAtMs < this.saidAtMs || readAtMs <= this.#doubtedAtMs) return;
    this.#doubtedAtMs = readAtMs;
    this.#version++;
  }

  /** Nothing has been discarded yet: what another process left in a shared cache can be older than what was heard. */
  get isFirstHeard(): boolean {
    return this.changedAtMs === Number.NEGATIVE_INFINITY;
  }

  /** Nothing that was read before the setting was last heard is good any more. */
  discardOlder(): void {
    if (this.changedAtMs >= this.saidAtMs) return;
    this.changedAtMs = this.saidAtMs;
    this.#version++;
    this.#tenant.project?.discardCache();
    this.#tenant.kept(createInventory).project?.discard();
  }

  get #isDoubted(): boolean {
    return this.#doubtedAtMs > this.#answeredMs;
  }

  #hear(said: Read<WireProject>): void {
    const { value, readAtMs } = said;
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

/** For `ctx.kept`. */
export function createMaskSetting(tenant: Tenant): MaskSetting {
  return new MaskSetting(tenant);
}

/** A position that may not be shown, because it is not known whether it is masked. */
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

/** The error that tells why nothing is shown. */
export function withheldBy(failure: unknown): Error {
  if (failure instanceof GatewayError) return new PositionWithheld(failure);
  if (failure instanceof Error) return failure;
  return new PositionWithheld(
    new UpstreamUnavailable('The record of the sensor and the project disagree on it: ask again'),
  );
}

const createLooks = () => ({ failed: false });

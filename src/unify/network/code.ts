import { dayMs, type ForwardMs, plus } from '../../clock.js';
import { isRecent } from '../../upstream/cache/demand.js';
import { unchanged } from '../../upstream/cache/dependencies.js';
import { freshMs } from '../../upstream/cache/freshness.js';
import type { WireSensor } from '../../upstream/catalogue/wire.js';
import { known } from '../../upstream/decode/fields.js';
import type { Tenant, UnifyContext } from '../context.js';

// A network without a code is looked up again after this time.
const unknownMs = freshMs.network;

/**
 * Seismic codes of the catalogue's networks. Only the detail of a sensor contains one, so each is learnt from any of
 * the network's sensors and remembered for a day (docs/behaviour.md 5.4, 6.1).
 */
export class NetworkCodes {
  readonly #now: () => ForwardMs;
  readonly #codes = new Map<string, Learnt>();

  constructor(now: () => ForwardMs) {
    this.#now = now;
  }

  /** Null when the network has no code; undefined when it has not been learnt or has expired. */
  of(key: string): string | null | undefined {
    const learnt = this.#codes.get(key);
    return learnt && learnt.untilMs > this.#now() ? learnt.code : undefined;
  }

  /** Records that the answer depends on the known codes, as the order and the association of sensors do. */
  note({ scope }: UnifyContext): void {
    scope.dependencies?.add(this, () => unchanged(() => this.version));
  }

  /**
   * As `of`, for an operation: undefined also where its freshness demand excludes the code. The answer expires with it.
   */
  ofNoted(ctx: UnifyContext, key: string): string | null | undefined {
    const learnt = this.#codes.get(key);
    this.note(ctx);
    const { demand } = ctx.scope;
    if (learnt && demand && !isRecent(demand, learnt.atMs)) return undefined;
    return learnt && !ctx.hasExpired(plus(learnt.untilMs, -1)) ? learnt.code : undefined;
  }

  /** Incremented whenever a code becomes known or changes. */
  version = 0;

  learn(key: string, code: string | null): void {
    const before = this.of(key);
    if (code === null && before) return;
    const atMs = this.#now();
    this.#codes.set(key, { code, atMs, untilMs: plus(atMs, code === null ? unknownMs : dayMs) });
    if (before !== code) this.version++;
  }
}

interface Learnt {
  readonly code: string | null;
  readonly atMs: ForwardMs;
  readonly untilMs: ForwardMs;
}

/**
 * Key under which the code of a sensor's network is stored: the network id, or the sensor where it is in no network.
 */
export function codeKeyOf(sensor: Pick<WireSensor, 'id' | 'network_id'>): string {
  return known(sensor.network_id) ?? `sensor ${sensor.id}`;
}

export function createNetworkCodes(tenant: Tenant): NetworkCodes {
  return new NetworkCodes(() => tenant.clock.now());
}

import { isRecent } from '../../upstream/cache/demand.js';
import { unchanged } from '../../upstream/cache/dependencies.js';
import type { WireSensor } from '../../upstream/catalogue/wire.js';
import { known } from '../../upstream/decode/fields.js';
import type { Tenant, UnifyContext } from '../context.js';

const dayMs = 86_400_000;
const unknownMs = 300_000;

/**
 * Seismic codes of the catalogue's networks. Only the detail of a sensor has one, so each is learnt from any of the
 * network's sensors and then known for a day (docs/behaviour.md 5.4, 6.1).
 */
export class NetworkCodes {
  readonly #now: () => number;
  readonly #codes = new Map<string, Learnt>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Null: looked for and not there. Undefined: not learnt, or too long ago. */
  of(key: string): string | null | undefined {
    const learnt = this.#codes.get(key);
    return learnt && learnt.untilMs > this.#now() ? learnt.code : undefined;
  }

  /** The answer depends on which codes are known: the order and the pairing of sensors do. */
  note({ scope }: UnifyContext): void {
    scope.dependencies?.add(this, () => unchanged(() => this.version));
  }

  /** As `of`, for an operation: not what it demands to be read again. Its answer holds no longer than what is known. */
  ofNoted(ctx: UnifyContext, key: string): string | null | undefined {
    const learnt = this.#codes.get(key);
    this.note(ctx);
    const { demand } = ctx.scope;
    if (learnt && demand && !isRecent(demand, learnt.atMs)) return undefined;
    return learnt && !ctx.hasPassed(learnt.untilMs - 1) ? learnt.code : undefined;
  }

  /** Changes whenever a code becomes known. */
  version = 0;

  learn(key: string, code: string | null): void {
    const before = this.of(key);
    if (code === null && before) return;
    const atMs = this.#now();
    this.#codes.set(key, { code, atMs, untilMs: atMs + (code === null ? unknownMs : dayMs) });
    if (before !== code) this.version++;
  }
}

interface Learnt {
  readonly code: string | null;
  readonly atMs: number;
  readonly untilMs: number;
}

/** What the code of a sensor's network is kept under: its network, or itself where it is in none. */
export function codeKeyOf(sensor: Pick<WireSensor, 'id' | 'network_id'>): string {
  return known(sensor.network_id) ?? `sensor ${sensor.id}`;
}

export function createNetworkCodes(tenant: Tenant): NetworkCodes {
  return new NetworkCodes(() => tenant.clock.now());
}

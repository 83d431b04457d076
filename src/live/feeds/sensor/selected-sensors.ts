import { type ForwardMs, longAgo } from '../../../clock.js';
import { type Tenant, UnifyContext } from '../../../unify/context.js';
import { type DeviceFilter, selectDevices } from '../../../unify/sensor/selection.js';
import { freshMs } from '../../../upstream/cache/freshness.js';
import { newCostMeter } from '../../../upstream/read/read.js';
import type { Preparation } from '../../delivery/preparation.js';

/**
 * The sensors that a subscription's networks and places select, by their present public positions. The change log holds
 * no positions: one that may be shown now may have been withheld when the change was observed, and the other way round
 * (docs/behaviour.md 6.4).
 */
export class SelectedSensors implements Preparation {
  readonly #tenant: Tenant;
  readonly #filter: DeviceFilter;
  #devices: ReadonlySet<string> = new Set();
  #selectedAtMs: ForwardMs = longAgo;
  #selecting: Promise<void> | null = null;

  constructor(tenant: Tenant, filter: DeviceFilter) {
    this.#tenant = tenant;
    this.#filter = filter;
  }

  /** Keys of the sensors as last selected. */
  get devices(): ReadonlySet<string> {
    return this.#devices;
  }

  /** The selection is as fresh as the other fields of a change (docs/behaviour.md 9.9). */
  prepare(): Promise<void> | null {
    if (this.#tenant.clock.now() - this.#selectedAtMs <= freshMs.trigger) return null;
    this.#selecting ??= this.#select().finally(() => {
      this.#selecting = null;
    });
    return this.#selecting;
  }

  async #select(): Promise<void> {
    const { clock, signal, log } = this.#tenant;
    const scope = { signal, priority: 'feed', operationKey: this, meter: newCostMeter() } as const;
    try {
      const { devices, incomplete } = await selectDevices(
        new UnifyContext(this.#tenant, scope),
        this.#filter,
      );
      if (incomplete) throw incomplete;
      this.#devices = devices;
      this.#selectedAtMs = clock.now();
    } catch (error) {
      const name = error instanceof Error ? error.name : String(error);
      log.warn({ error: name }, 'The sensors of a subscription cannot be selected; it is tried again');
      await new Promise<void>((resolve) => void clock.timer(retryMs, resolve));
    }
  }
}

// A change is neither delivered nor left out before it is known whether its sensor is selected.
const retryMs = 2_000;

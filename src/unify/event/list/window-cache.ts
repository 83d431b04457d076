import { type ForwardMs, plus } from '../../../clock.js';
import { unchanged } from '../../../upstream/cache/dependencies.js';
import { freshMs, staleIfErrorMs } from '../../../upstream/cache/freshness.js';
import type { Tenant, UnifyContext } from '../../context.js';
import type { Window } from './catalogue-window.js';

export interface KnownWindow extends Window {
  /** Name of its pushdown. */
  readonly name: string;
  readonly readAtMs: ForwardMs;
  /** Mean milliseconds between events. */
  readonly gapMs: number;
}

/**
 * Windows of the catalogue that were read lately. Reading one again hits the response cache, and its density gives the
 * length of the next window. Only the number of requests depends on it.
 */
export class WindowCache {
  readonly #windows: KnownWindow[] = [];
  readonly #tenant: Tenant;
  /** Incremented whenever the set of known windows changes. */
  #version = 0;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
  }

  add(window: Omit<KnownWindow, 'readAtMs'>): void {
    const index = this.#windows.findIndex(
      ({ name, fromMs, toMs }) => name === window.name && fromMs === window.fromMs && toMs === window.toMs,
    );
    if (index >= 0) this.#windows.splice(index, 1);
    else this.#version++;
    this.#windows.unshift({ ...window, readAtMs: this.#tenant.clock.now() });
    this.#windows.length = Math.min(this.#windows.length, mostWindows);
  }

  /** Forgets a window that by now holds much more than a page. */
  drop({ fromMs, toMs }: Window, name: string): void {
    const index = this.#windows.findIndex(
      (known) => known.name === name && known.fromMs === fromMs && known.toMs === toMs,
    );
    if (index < 0) return;
    this.#windows.splice(index, 1);
    this.#version++;
  }

  /** Registers the known windows as a dependency of the answer: another set may lead to other responses. */
  note({ scope }: UnifyContext): void {
    scope.dependencies?.add(this, () => unchanged(() => this.#version));
  }

  /** Mean gap in the latest window of this name; null when there is none. */
  gapMs(name: string): number | null {
    return this.#windows.find((window) => window.name === name)?.gapMs ?? null;
  }

  /** The window that reaches farthest before (or after) a time; null when none does. */
  before(name: string, ms: number): KnownWindow | null {
    const reach = this.#usable(name, ms).filter(({ fromMs, toMs }) => fromMs < ms - worthMs && toMs >= ms);
    return reach.sort((a, b) => a.fromMs - b.fromMs)[0] ?? null;
  }

  after(name: string, ms: number): KnownWindow | null {
    const reach = this.#usable(name, ms).filter(({ fromMs, toMs }) => fromMs <= ms && toMs > ms + worthMs);
    return reach.sort((a, b) => b.toMs - a.toMs)[0] ?? null;
  }

  // The window at an open end moves with the clock. Reusing the previous one lets its cached responses serve as
  // stale-if-error too.
  #usable(name: string, ms: number): KnownWindow[] {
    const nowMs = this.#tenant.clock.now();
    return this.#windows.filter((window) => window.name === name && this.usableUntilMs(window, ms) >= nowMs);
  }

  /** Time until which a window may be used for events before or after `ms`. */
  usableUntilMs({ readAtMs }: KnownWindow, ms: number): ForwardMs {
    return plus(readAtMs, Number.isFinite(ms) ? freshMs.event : staleIfErrorMs);
  }
}

export function createWindowCache(tenant: Tenant): WindowCache {
  return new WindowCache(tenant);
}

const mostWindows = 64;

const worthMs = 1000;

import { unchanged } from '../../../upstream/cache/dependencies.js';
import { freshMs, staleIfErrorMs } from '../../../upstream/cache/freshness.js';
import type { Tenant, UnifyContext } from '../../context.js';
import type { Window } from './catalogue-window.js';

export interface KnownWindow extends Window {
  /** What else it was narrowed by. */
  readonly name: string;
  readonly readAtMs: number;
  /** Milliseconds from event to event. */
  readonly gapMs: number;
}

/**
 * Which windows of the catalogue have been read lately: asking for the same again is answered from the cache, and tells
 * how long the next should be. Nothing but the number of requests depends on it.
 */
export class WindowCache {
  readonly #windows: KnownWindow[] = [];
  readonly #tenant: Tenant;
  /** Changes whenever a window becomes known that was not. */
  #version = 0;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
  }

  add(window: Omit<KnownWindow, 'readAtMs'>): void {
    const at = this.#windows.findIndex(
      ({ name, fromMs, toMs }) => name === window.name && fromMs === window.fromMs && toMs === window.toMs,
    );
    if (at >= 0) this.#windows.splice(at, 1);
    else this.#version++;
    this.#windows.unshift({ ...window, readAtMs: this.#tenant.clock.now() });
    this.#windows.length = Math.min(this.#windows.length, mostWindows);
  }

  /** It holds so much more than a page by now that it is no longer worth asking for. */
  drop({ fromMs, toMs }: Window, name: string): void {
    const at = this.#windows.findIndex(
      (known) => known.name === name && known.fromMs === fromMs && known.toMs === toMs,
    );
    if (at < 0) return;
    this.#windows.splice(at, 1);
    this.#version++;
  }

  /** The answer depends on which windows are known: with another one it may be made of other responses. */
  note({ scope }: UnifyContext): void {
    scope.dependencies?.add(this, () => unchanged(() => this.#version));
  }

  /** The gap in the window read last. */
  gapMs(name: string): number | null {
    return this.#windows.find((window) => window.name === name)?.gapMs ?? null;
  }

  /** A window that holds what lies before (or after) a time; of several, the one that reaches farthest. */
  before(name: string, ms: number): KnownWindow | null {
    const reach = this.#usable(name, ms).filter(({ fromMs, toMs }) => fromMs < ms - worthMs && toMs >= ms);
    return reach.sort((a, b) => a.fromMs - b.fromMs)[0] ?? null;
  }

  after(name: string, ms: number): KnownWindow | null {
    const reach = this.#usable(name, ms).filter(({ fromMs, toMs }) => fromMs <= ms && toMs > ms + worthMs);
    return reach.sort((a, b) => b.toMs - a.toMs)[0] ?? null;
  }

  // The window at an open end moves on with the time: asking for the one of before keeps its responses in use, as
  // stale-if-error too.
  #usable(name: string, ms: number): KnownWindow[] {
    const nowMs = this.#tenant.clock.now();
    return this.#windows.filter((window) => window.name === name && this.usableUntilMs(window, ms) >= nowMs);
  }

  /** Until when a window is used for what lies before or after this time. */
  usableUntilMs({ readAtMs }: KnownWindow, ms: number): number {
    return readAtMs + (Number.isFinite(ms) ? freshMs.event : staleIfErrorMs);
  }
}

export function createWindowCache(tenant: Tenant): WindowCache {
  return new WindowCache(tenant);
}

const mostWindows = 64;

const worthMs = 1000;

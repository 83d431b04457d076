import type { Tenant } from '../context.js';
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
export class WindowBook {
  readonly #windows: KnownWindow[] = [];
  readonly #tenant: Tenant;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
  }

  note(window: Omit<KnownWindow, 'readAtMs'>): void {
    this.#windows.unshift({ ...window, readAtMs: this.#tenant.clock.now() });
    this.#windows.length = Math.min(this.#windows.length, mostWindows);
  }

  /** The gap in the window read last. */
  gapMs(name: string): number | null {
    return this.#windows.find((window) => window.name === name)?.gapMs ?? null;
  }

  /** A window that holds what lies before (or after) a time; of several, the one that reaches farthest. */
  before(name: string, ms: number): Window | null {
    const reach = this.#usable(name, ms).filter(({ fromMs, toMs }) => fromMs < ms - worthMs && toMs >= ms);
    return reach.sort((a, b) => a.fromMs - b.fromMs)[0] ?? null;
  }

  after(name: string, ms: number): Window | null {
    const reach = this.#usable(name, ms).filter(({ fromMs, toMs }) => fromMs <= ms && toMs > ms + worthMs);
    return reach.sort((a, b) => b.toMs - a.toMs)[0] ?? null;
  }

  // The window at an open end moves on with the time: asking for the one of before keeps its answer in use.
  #usable(name: string, ms: number): KnownWindow[] {
    const age = Number.isFinite(ms) ? freshMs : refreshingMs;
    const since = this.#tenant.clock.now() - age;
    return this.#windows.filter((window) => window.name === name && window.readAtMs >= since);
  }
}

export function createWindowBook(tenant: Tenant): WindowBook {
  return new WindowBook(tenant);
}

const mostWindows = 64;

const worthMs = 1000;

// contract 5.6: so long is an answer fresh, and so long is it served while it is refreshed behind.
const freshMs = 10_000;
const refreshingMs = 3_600_000;

import type { CachePart } from './cache.js';

/** A resource as a list last showed it. */
export interface Seen {
  readonly version: string;
  readonly atMs: number;
}

/**
 * How lists last showed the resources that have a detail of their own: while a list shows it unchanged, a detail need
 * not be asked again (contract 5.5). Kept with the answers, within their bound.
 */
export class Versions {
  readonly #kept: CachePart;

  constructor(kept: CachePart) {
    this.#kept = kept;
  }

  saw(id: string, version: string, atMs: number): void {
    const bytes = 24 + version.length;
    this.#kept.set(nameOf(id), {
      value: version,
      absent: false,
      final: false,
      version: null,
      readAtMs: atMs,
      bytes,
    });
  }

  /** As `saw`, where another instance did: it may have been before this one. */
  sawElsewhere(id: string, version: string, atMs: number): void {
    if ((this.seen(id)?.atMs ?? Number.NEGATIVE_INFINITY) < atMs) this.saw(id, version, atMs);
  }

  seen(id: string): Seen | undefined {
    const kept = this.#kept.get(nameOf(id));
    return typeof kept?.value === 'string' ? { version: kept.value, atMs: kept.readAtMs } : undefined;
  }
}

// No path begins like this.
function nameOf(id: string): string {
  return `version ${id}`;
}

import { createHash } from 'node:crypto';
import type { CachePartition } from './response-cache.js';

/** A resource as a list last showed it. */
export interface ListedVersion {
  readonly version: string;
  readonly atMs: number;
}

/** The resources that a list shows, each by a name of its own and its version. */
export type Listed = Iterable<readonly [listedAs: string, version: string]>;

// Details are asked for of what lists have just shown; of older ones the age of the detail itself decides.
const maxVersions = 20_000;
// An entry of the map, its key, the version and the object around it.
const bytesEach = 160;

/**
 * How lists last showed the resources that have a detail of their own: while a list shows it unchanged, a detail need
 * not be asked again (docs/behaviour.md 5.5). Cached as one entry beside the responses, within their bound: an entry for each event
 * took half of the cache.
 */
export class Versions {
  readonly #cache: CachePartition;

  constructor(cache: CachePartition) {
    this.#cache = cache;
  }

  /** What another instance saw may be older than what this one saw: the later stands. */
  saw(listed: Listed, atMs: number): void {
    const seenByName = this.#seenByName() ?? new Map<string, ListedVersion>();
    for (const [listedAs, version] of listed) {
      if ((seenByName.get(listedAs)?.atMs ?? Number.NEGATIVE_INFINITY) > atMs) continue;
      // A map keeps the order in which keys came: those that were shown longest ago stand first.
      seenByName.delete(listedAs);
      seenByName.set(listedAs, { version, atMs });
    }
    for (const listedAs of seenByName.keys()) {
      if (seenByName.size <= maxVersions) break;
      seenByName.delete(listedAs);
    }
    if (seenByName.size === 0) return;
    const bytes = seenByName.size * bytesEach;
    this.#cache.set(name, {
      value: seenByName,
      absent: false,
      final: false,
      version: null,
      readAtMs: atMs,
      askedAtMs: atMs,
      bytes,
    });
  }

  seen(listedAs: string): ListedVersion | undefined {
    return this.#seenByName()?.get(listedAs);
  }

  #seenByName(): Map<string, ListedVersion> | undefined {
    return this.#cache.get(name)?.value as Map<string, ListedVersion> | undefined;
  }
}

// No path begins like this.
const name = 'versions';

/** A text of its own for each state of a record: two records that differ in anything have two versions. */
export function versionOf(record: object): string {
  return createHash('sha1').update(JSON.stringify(record)).digest('base64').slice(0, 16);
}

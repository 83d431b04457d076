import { hash } from 'node:crypto';
import type { ForwardMs } from '../../clock.js';
import type { CachePartition } from './response-cache.js';

/** The version in which a list last showed a resource. */
export interface ListedVersion {
  readonly version: string;
  readonly atMs: ForwardMs;
}

/** The resources that a list shows, each with its name and version. */
export type Listed = Iterable<readonly [listedAs: string, version: string]>;

// Details are mostly read of resources that lists have just shown; for older ones the age of the detail decides.
const maxVersions = 20_000;
// Estimate: an entry of the map, its key, the version and the object around it.
const bytesEach = 160;

/**
 * Versions in which lists last showed the resources that have a detail: while a list shows one unchanged, its detail
 * need not be read again (docs/behaviour.md 5.5). Cached as one entry beside the responses, within their bound: an
 * entry for each event took half of the cache.
 */
export class Versions {
  readonly #cache: CachePartition;

  constructor(cache: CachePartition) {
    this.#cache = cache;
  }

  /** Another instance's list may be older than this one's: the later version stands. */
  saw(listed: Listed, atMs: ForwardMs): void {
    const versionsByName = this.#versionsByName() ?? new Map<string, ListedVersion>();
    for (const [listedAs, version] of listed) {
      if ((versionsByName.get(listedAs)?.atMs ?? Number.NEGATIVE_INFINITY) > atMs) continue;
      // A map keeps insertion order: the resources that were shown longest ago stand first.
      versionsByName.delete(listedAs);
      versionsByName.set(listedAs, { version, atMs });
    }
    for (const listedAs of versionsByName.keys()) {
      if (versionsByName.size <= maxVersions) break;
      versionsByName.delete(listedAs);
    }
    if (versionsByName.size === 0) return;
    const bytes = versionsByName.size * bytesEach;
    this.#cache.set(name, {
      value: versionsByName,
      absent: false,
      immutable: false,
      version: null,
      digest: null,
      readAtMs: atMs,
      askedAtMs: atMs,
      bytes,
    });
  }

  listed(listedAs: string): ListedVersion | undefined {
    return this.#versionsByName()?.get(listedAs);
  }

  #versionsByName(): Map<string, ListedVersion> | undefined {
    return this.#cache.get(name)?.value as Map<string, ListedVersion> | undefined;
  }
}

// No request path begins like this, so the name cannot collide.
const name = 'versions';

/** A hash of the record: two records that differ in anything have two versions. */
export function versionOf(record: object): string {
  // A slice of the digest's text would hold all of it.
  return hash('sha1', JSON.stringify(record), 'buffer').toString('base64', 0, 12);
}

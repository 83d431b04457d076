import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Dependencies } from '../../upstream/cache/dependencies.js';

/** Content codings of a cached answer, the one with the shortest result first. */
export const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

// Below this an encoding saves less than its header costs.
const worthEncoding = 1_024;
// Estimated bytes per dependency, with the closures that check its validity.
const bytesEach = 400;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  // Quality 4 is about as fast as gzip and shorter; the highest quality takes a hundred times as long.
  br: (bytes) => brotliAsync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes) => gzipAsync(bytes),
};

/** A cached answer: its bytes as sent, and the dependencies that decide its validity. */
export class CachedAnswer {
  readonly json: Buffer;
  /** Name of the operation, for the log and the metrics. */
  readonly name: string | null;
  readonly dependencies: Dependencies;
  readonly #onLarger: () => void;
  readonly #encoded = new Map<Coding, Buffer | null>();
  #digest: string | null = null;

  /** @param onLarger called when an encoding has increased `bytes` */
  constructor(json: Buffer, name: string | null, dependencies: Dependencies, onLarger: () => void) {
    this.json = json;
    this.name = name;
    this.dependencies = dependencies;
    this.#onLarger = onLarger;
  }

  /** Estimated memory, for the byte bound of the cache. */
  get bytes(): number {
    let bytes = this.json.length + bytesEach * (1 + this.dependencies.size);
    for (const encoded of this.#encoded.values()) bytes += encoded?.length ?? 0;
    return bytes;
  }

  /** Hash of the bytes, for the ETag. */
  get digest(): string {
    this.#digest ??= digestOf(this.json);
    return this.#digest;
  }

  /** The encoded bytes, or null until they are ready: the first call starts the compression in the background. */
  encoded(coding: Coding): Buffer | null {
    const known = this.#encoded.get(coding);
    if (known !== undefined || this.json.length < worthEncoding) return known ?? null;
    this.#encoded.set(coding, null);
    compressors[coding](this.json).then(
      (encoded) => {
        this.#encoded.set(coding, encoded);
        this.#onLarger();
      },
      // After a failed compression the answer is sent unencoded.
      () => {},
    );
    return null;
  }
}

export const digestOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url').slice(0, 27);

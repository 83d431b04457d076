import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Dependencies } from '../../upstream/cache/dependencies.js';

/** How the bytes of an answer may be encoded, the shortest first. */
export const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

// Below this an encoding saves less than its header costs.
const worthEncoding = 1_024;
// Of its dependencies, each with the closures that tell whether it still holds.
const bytesEach = 400;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  // About as fast as gzip, and shorter; the highest quality takes a hundred times as long.
  br: (bytes) => brotliAsync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes) => gzipAsync(bytes),
};

/** An answer as it was sent, with what it was made of. */
export class KeptAnswer {
  readonly json: Buffer;
  /** Of the operation, for the log and the metrics. */
  readonly name: string | null;
  readonly dependencies: Dependencies;
  readonly #onLarger: () => void;
  readonly #encoded = new Map<Coding, Buffer | null>();
  #digest: string | null = null;

  /** @param onLarger told when it has come to take more memory */
  constructor(json: Buffer, name: string | null, dependencies: Dependencies, onLarger: () => void) {
    this.json = json;
    this.name = name;
    this.dependencies = dependencies;
    this.#onLarger = onLarger;
  }

  /** What it takes of memory. */
  get bytes(): number {
    let bytes = this.json.length + bytesEach * (1 + this.dependencies.size);
    for (const encoded of this.#encoded.values()) bytes += encoded?.length ?? 0;
    return bytes;
  }

  /** Tells its bytes from those of any other answer. */
  get digest(): string {
    this.#digest ??= digestOf(this.json);
    return this.#digest;
  }

  /** The bytes in this encoding; null while they are being made, in the background, from the first call on. */
  encoded(coding: Coding): Buffer | null {
    const known = this.#encoded.get(coding);
    if (known !== undefined || this.json.length < worthEncoding) return known ?? null;
    this.#encoded.set(coding, null);
    compressors[coding](this.json).then(
      (encoded) => {
        this.#encoded.set(coding, encoded);
        this.#onLarger();
      },
      // Without it the answer goes out as it is.
      () => {},
    );
    return null;
  }
}

export const digestOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url').slice(0, 27);

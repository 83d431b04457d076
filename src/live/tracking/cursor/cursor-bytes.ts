// With up to 7 bits that are pending, as many as an integer of bitwise operations holds.
const mostBits = 24;

/** Writes the number encodings used by cursors, little-endian. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;
  #pending = 0;
  #pendingBits = 0;

  /** @param bytes width of the number, 4 at most */
  uint(value: number, bytes: number): void {
    for (let shift = 0; shift < 8 * bytes; shift += 8) this.#push((value >>> shift) & 0xff);
  }

  /** Writes an integer from 0 to 2^53 − 1; small ones take few bytes. */
  varint(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.#push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.#push(rest);
  }

  /** Writes an integer below 2^width, without a gap to the bits before; `flush` ends a sequence of them. */
  bits(value: number, width: number): void {
    if (width > mostBits) {
      this.bits(Math.floor(value / 2 ** mostBits), width - mostBits);
      this.bits(value % 2 ** mostBits, mostBits);
      return;
    }
    this.#pending = (this.#pending << width) | value;
    this.#pendingBits += width;
    while (this.#pendingBits >= 8) {
      this.#pendingBits -= 8;
      this.#push(this.#pending >>> this.#pendingBits);
      this.#pending &= (1 << this.#pendingBits) - 1;
    }
  }

  /** Fills the last byte of a sequence of bits with zeros. */
  flush(): void {
    if (this.#pendingBits > 0) this.bits(0, 8 - this.#pendingBits);
  }

  get length(): number {
    return this.#length;
  }

  checksum(): number {
    return hashBytes(this.#bytes, this.#length);
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }
}

/** Reads the output of `ByteWriter`, which ends with its checksum. Reading past the end gives zeros. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at = 0;
  #byte = 0;
  #bitsLeft = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = Math.max(0, bytes.length - 4);
  }

  hasValidChecksum(): boolean {
    if (this.#bytes.length < 4) return false;
    const written = new DataView(this.#bytes.buffer, this.#bytes.byteOffset).getUint32(this.#end, true);
    return written === hashBytes(this.#bytes, this.#end);
  }

  /** Bytes read so far. */
  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  uint(bytes: number): number {
    this.#bitsLeft = 0;
    let value = 0;
    for (let i = 0; i < bytes; i++) value += this.#next() * 256 ** i;
    return value;
  }

  varint(): number {
    this.#bitsLeft = 0;
    let value = 0;
    for (let scale = 1; scale < 2 ** 53; scale *= 128) {
      const byte = this.#next();
      value += (byte % 128) * scale;
      if (byte < 128) break;
    }
    return value;
  }

  /** Reads an integer that `bits` wrote. Continues within a byte until another method is called. */
  bits(width: number): number {
    let value = 0;
    for (let left = width; left > 0; left--) {
      if (this.#bitsLeft === 0) {
        this.#byte = this.#next();
        this.#bitsLeft = 8;
      }
      this.#bitsLeft--;
      value = value * 2 + ((this.#byte >> this.#bitsLeft) & 1);
    }
    return value;
  }

  #next(): number {
    return this.#at < this.#end ? (this.#bytes[this.#at++] ?? 0) : 0;
  }
}

/** FNV-1a of the text's UTF-8 form. */
export function hash32(text: string): number {
  const bytes = Buffer.from(text);
  return hashBytes(bytes, bytes.length);
}

function hashBytes(bytes: Uint8Array, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return hash >>> 0;
}

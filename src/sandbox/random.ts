/** A stream of numbers that is the same for the same parts on every machine. */
export function randomOf(...parts: readonly (string | number)[]): Random {
  return new Random(parts.join('\u0000'));
}

/** The generator sfc32, seeded by hash. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    this.#a = hashOf(seed);
    this.#b = Math.imul(this.#a ^ 0x9e3779b9, 0x85ebca6b);
    this.#c = Math.imul(this.#b ^ 0x7f4a7c15, 0xc2b2ae35);
    // The first outputs still show the seed.
    for (let warmUp = 0; warmUp < 12; warmUp++) this.next();
  }

  /** From 0 to below 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** Both ends included. */
  integer(low: number, high: number): number {
    return low + Math.floor((high - low + 1) * this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** Mean 0, standard deviation 1. */
  gaussian(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }
}

/** 32 bits of a text (FNV-1a with a final mix, so that neighbours in spelling are not neighbours in value). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

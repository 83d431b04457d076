/** A stream of numbers in [0, 1) that is the same for the same parts on every machine (sfc32, seeded by hash). */
export function randomOf(...parts: readonly (string | number)[]): Random {
  const text = parts.join('\u0000');
  let a = hashOf(`a${text}`);
  let b = hashOf(`b${text}`);
  let c = hashOf(`c${text}`);
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first outputs still show the seed.
  for (let warmUp = 0; warmUp < 12; warmUp++) next();
  return {
    next,
    between: (low, high) => low + (high - low) * next(),
    integer: (low, high) => low + Math.floor((high - low + 1) * next()),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
    gaussian: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    exponential: (mean) => -mean * Math.log(1 - next()),
  };
}

export interface Random {
  next(): number;
  between(low: number, high: number): number;
  /** Both ends included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T;
  /** Mean 0, standard deviation 1. */
  gaussian(): number;
  exponential(mean: number): number;
}

/** 32 bits of a text (FNV-1a with a final mix, so that neighbours in spelling are not neighbours in value). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

import type { ByteReader, ByteWriter } from './cursor-bytes.js';

// A state whose number was left out: it counts as changed since.
export const unknownState = 0xffff;
const stateBits = 16;
// A forged cursor of a few bytes could claim any number of records; no gateway knows more than this.
const mostKnown = 1_000_000;

/**
 * Writes known records one by one, in the order of their numbers: the gap to the one before, and a bit that is set where
 * the record is not final. Upstream numbers triggers consecutively (docs/interfaces.md P2), so most of them take two
 * bits; a hashed id takes some six bytes. Writes nothing and returns false where it would take more than `mostBytes`.
 */
export function writeEntries(
  out: ByteWriter,
  known: ReadonlyMap<number, number | null>,
  hasStates: boolean,
  mostBytes: number,
): boolean {
  if (known.size > mostBytes * 4) return false;
  const numbers = Float64Array.from(known.keys()).sort();
  const first = numbers[0] ?? 0;
  const gaps = numbers.map((number, i) => number - (numbers[i - 1] ?? number - 1));
  const order = orderOf(gaps);
  // An exponential Golomb code of this order: the number of bits beyond it as zeros, then the gap, at least 2^order.
  const codes = gaps.map((gap) => gap - 1 + 2 ** order);
  let bits = 0;
  for (const code of codes) bits += 2 * widthOf(code) - order;
  if (hasStates) for (const state of known.values()) if (state !== null) bits += stateBits;
  if (Math.ceil(bits / 8) + mostHeaderBytes > mostBytes) return false;
  out.varint(numbers.length);
  out.varint(first);
  out.varint(order * 2 + (hasStates ? 1 : 0));
  for (const [i, code] of codes.entries()) {
    const width = widthOf(code);
    out.bits(0, width - 1 - order);
    out.bits(code, width);
    const state = known.get(numbers[i] ?? 0) ?? null;
    out.bits(state === null ? 0 : 1, 1);
    if (state !== null && hasStates) out.bits(state, stateBits);
  }
  out.flush();
  return true;
}

/** The records that `writeEntries` wrote, the greatest number first, as the newest records have it. */
export function readEntries(input: ByteReader): Map<number, number | null> {
  return new Map([...readAscending(input)].reverse());
}

function readAscending(input: ByteReader): Map<number, number | null> {
  const known = new Map<number, number | null>();
  const count = Math.min(mostKnown, input.varint());
  let number = input.varint() - 1;
  const header = input.varint();
  const order = Math.floor(header / 2);
  for (let left = count; left > 0; left--) {
    let width = order + 1;
    while (input.bits(1) === 0) if (++width > widest) return known;
    number += 2 ** (width - 1) + input.bits(width - 1) - 2 ** order + 1;
    const isFinal = input.bits(1) === 0;
    known.set(number, isFinal ? null : header % 2 === 1 ? input.bits(stateBits) : unknownState);
  }
  return known;
}

// The count, the first number, the order.
const mostHeaderBytes = 2 + 8 + 1;
const widest = 53;

/** The order that suits gaps of this size: zero where most numbers are consecutive. */
function orderOf(gaps: Float64Array): number {
  let sum = 0;
  for (const gap of gaps.subarray(1)) sum += widthOf(gap) - 1;
  return Math.floor(sum / Math.max(1, gaps.length - 1));
}

function widthOf(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 64 - Math.clz32(value / 2 ** 32);
}

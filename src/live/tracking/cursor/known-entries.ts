import type { ByteReader, ByteWriter } from './cursor-bytes.js';

// A state whose number was left out: it counts as changed since.
export const unknownState = 0xffff;
const stateBits = 16;
// A forged cursor of a few bytes could claim any number of records; no gateway knows more than this.
const mostKnown = 1_000_000;

/**
 * Writes known records one by one, in the order of their numbers: the gap to the one before, and a bit that is set where
 * the record is not final. Upstream numbers triggers consecutively (docs/interfaces.md P2), so most of them take two
 * bits; a hashed id takes some six bytes. Where the states of records that are not final would take more than `mostBytes`,
 * they are left out if that `mayOmitStates`. Writes nothing and returns false where the rest takes more too.
 */
export function writeEntries(
  out: ByteWriter,
  known: ReadonlyMap<number, number | null>,
  mayOmitStates: boolean,
  mostBytes: number,
): boolean {
  if (known.size > mostBytes * 4) return false;
  const entries = inOrder([...known]);
  const first = entries[0]?.[0] ?? 0;
  const gaps = new Float64Array(entries.length);
  let openCount = 0;
  let before = first - 1;
  for (const [i, [number, state]] of entries.entries()) {
    gaps[i] = number - before;
    before = number;
    if (state !== null) openCount++;
  }
  const order = orderOf(gaps);
  // An exponential Golomb code of this order: the number of bits beyond it as zeros, then the gap, at least 2^order.
  const least = 2 ** order - 1;
  let bits = 0;
  for (const gap of gaps) bits += 2 * widthOf(gap + least) - order;
  const fits = (count: number) => Math.ceil(count / 8) + mostHeaderBytes <= mostBytes;
  const hasStates = fits(bits + openCount * stateBits);
  if (!hasStates && !(mayOmitStates && fits(bits))) return false;
  out.varint(entries.length);
  out.varint(first);
  out.varint(order * 2 + (hasStates ? 1 : 0));
  for (const [i, [, state]] of entries.entries()) {
    const code = (gaps[i] ?? 0) + least;
    const width = widthOf(code);
    if (width > order + 1) out.bits(0, width - 1 - order);
    out.bits(code * 2 + (state === null ? 0 : 1), width + 1);
    if (state !== null && hasStates) out.bits(state, stateBits);
  }
  out.flush();
  return true;
}

type Entry = readonly [number: number, state: number | null];

/** By ascending number. Most are in descending order, since records are numbered as they appear. */
function inOrder(entries: Entry[]): readonly Entry[] {
  const isDescending = entries.every((entry, i) => i === 0 || entry[0] < (entries[i - 1]?.[0] ?? 0));
  return isDescending ? entries.reverse() : entries.sort((one, other) => one[0] - other[0]);
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

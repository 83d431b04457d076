import { asMoment, plus, type UnixMs } from '../../clock.js';
import { CursorInvalid } from '../../errors.js';
import { limits } from '../../limits.js';
import type { LogOffset } from '../../store/store.js';
import { ByteReader, ByteWriter, hash32 } from './cursor-bytes.js';

/**
 * A position in a feed. It contains all that a resume needs after a restart or at another instance. All times in it are
 * on upstream's clock.
 */
export interface Position {
  /** Offset of the last change before it, in the epoch that issued it; null when it is not an offset of a log. */
  readonly logged: LogOffset | null;
  /** Time of upstream's newest record. */
  readonly timeMs: UnixMs;
  /** Every listed record before this time is known; from it on, only those in `known`. */
  readonly horizonMs: UnixMs;
  /** Time of the oldest record that is not final: a resume need not look for earlier ones. */
  readonly oldestOpenMs: UnixMs;
  /** By `idNumber`: null when final, else `stateNumber` of the state it was in. */
  readonly known: ReadonlyMap<number, number | null>;
}

// Two states can have the same number: one in 65,536 updates during a restart is then delivered late.
const stateBytes = 2;

/** The hash by which a position identifies a state that can still change. */
export function stateNumber(fingerprint: string): number {
  return hash32(fingerprint) % 256 ** stateBytes;
}

/** Opaque text of a position. A cursor is rejected by a feed of another `scope`. */
export function encodePosition(scope: string, position: Position): string {
  const { logged, timeMs, horizonMs, oldestOpenMs, known } = position;
  const out = new ByteWriter();
  out.uint(hash32(scope), 4);
  out.uint(logged?.epoch ?? 0, 4);
  out.varint(logged?.offset ?? 0);
  out.varint(timeMs);
  out.varint(signed(timeMs - horizonMs));
  out.varint(signed(timeMs - oldestOpenMs));
  const ids = Float64Array.from(known.keys()).sort();
  const isOpen = (id: number) => known.get(id) !== null;
  writeRanges(
    out,
    ids.filter((id) => !isOpen(id)),
  );
  const open = ids.filter(isOpen);
  out.varint(open.length);
  let before = 0;
  for (const id of open) {
    out.varint(id - before);
    out.uint(known.get(id) ?? 0, stateBytes);
    before = id;
  }
  out.uint(out.checksum(), 4);
  return Buffer.from(out.bytes()).toString('base64url');
}

/** @throws CursorInvalid when the text is not a cursor, or is one of another feed */
export function decodePosition(scope: string, cursor: string): Position {
  const position = read(scope, cursor);
  if (position) return position;
  throw new CursorInvalid(
    '`after` is not a cursor of this feed: pass the `cursor` of a change that this subscription delivered',
    { argument: 'after' },
  );
}

function read(scope: string, cursor: string): Position | null {
  if (cursor.length > limits.feedCursorCharacters || !/^[\w-]+$/.test(cursor)) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  const input = new ByteReader(bytes);
  if (!input.hasValidChecksum() || input.uint(4) !== hash32(scope)) return null;
  const run = input.uint(4);
  const seq = input.varint();
  const timeMs: UnixMs = asMoment(input.varint());
  const horizonMs = plus(timeMs, -unsigned(input.varint()));
  const oldestOpenMs = plus(timeMs, -unsigned(input.varint()));
  const known = new Map<number, number | null>();
  for (const id of readRanges(input)) known.set(id, null);
  let id = 0;
  for (let left = input.varint(); left > 0 && !input.isAtEnd; left--) {
    id += input.varint();
    known.set(id, input.uint(stateBytes));
  }
  if (!input.isAtEnd) return null;
  return { logged: run === 0 ? null : { epoch: run, offset: seq }, timeMs, horizonMs, oldestOpenMs, known };
}

/** Upstream numbers its records consecutively (docs/interfaces.md P2), so most ids form a few unbroken ranges. */
function writeRanges(out: ByteWriter, ids: Float64Array): void {
  const ranges: { first: number; length: number }[] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last && id === last.first + last.length) last.length++;
    else ranges.push({ first: id, length: 1 });
  }
  out.varint(ranges.length);
  let end = 0;
  for (const { first, length } of ranges) {
    out.varint((first - end) * 2 + (length === 1 ? 0 : 1));
    if (length > 1) out.varint(length);
    end = first + length;
  }
}

function readRanges(input: ByteReader): number[] {
  const ids: number[] = [];
  let end = 0;
  for (let left = input.varint(); left > 0 && !input.isAtEnd; left--) {
    const step = input.varint();
    const first = end + Math.floor(step / 2);
    end = first + (step % 2 === 1 ? input.varint() : 1);
    if (end - first > mostKnown - ids.length) return ids;
    for (let id = first; id < end; id++) ids.push(id);
  }
  return ids;
}

// A forged cursor of a few bytes could claim any number of records; no gateway knows more than this.
const mostKnown = 1_000_000;

// Integer ids and hashes of other ids stay below this, so that they are still exact when doubled.
const idSpace = 2 ** 50;

/** The id as a number where it is a plain integer, as upstream's ids are (docs/interfaces.md P2); otherwise a hash. */
export function idNumber(id: string): number {
  const number = /^(0|[1-9]\d{0,15})$/.test(id) ? Number(id) : Number.NaN;
  if (number < idSpace / 2) return number;
  const high = hash32(`a${id}`) & 0xffff;
  return idSpace / 2 + high * 2 ** 32 + hash32(`b${id}`);
}

// Zigzag encoding: small numbers of either sign become small unsigned numbers.
const signed = (value: number) => (value < 0 ? -value * 2 - 1 : value * 2);
const unsigned = (value: number) => (value % 2 === 1 ? -(value + 1) / 2 : value / 2);

import { CursorInvalid } from '../../errors.js';
import type { Place } from '../../store/store.js';
import { ByteReader, ByteWriter, hash32 } from './cursor-bytes.js';

/**
 * A position in a feed. It holds enough to resume without any memory of the gateway: after a restart, or at another
 * instance. Everything in it that is a time is upstream's.
 */
export interface Position {
  /** The change it is behind, in the run that gave it; null: not a place in a log. */
  readonly logged: Place | null;
  /** How far upstream's records reached. */
  readonly timeMs: number;
  /** Of records before this time all that were to be had are known; from it on, those in `known`. */
  readonly horizonMs: number;
  /** Oldest of the records that are not final; no earlier than it, none has to be looked for. */
  readonly oldestOpenMs: number;
  /** By `idNumber`: null when final, else `stateNumber` of the state it was in. */
  readonly known: ReadonlyMap<number, number | null>;
}

// Two states that the same number stands for: one in 65,536 updates of a restart is told late.
const stateBytes = 2;

/** What a position holds of a state that can still change. */
export function stateNumber(fingerprint: string): number {
  return hash32(fingerprint) % 256 ** stateBytes;
}

/** Opaque text of a position. `scope` sets feeds apart whose cursors must not be taken for one another's. */
export function encodePosition(scope: string, position: Position): string {
  const { logged, timeMs, horizonMs, oldestOpenMs, known } = position;
  const out = new ByteWriter();
  out.uint(hash32(scope), 4);
  out.uint(logged?.run ?? 0, 4);
  out.varint(logged?.seq ?? 0);
  out.varint(timeMs);
  out.varint(signed(timeMs - horizonMs));
  out.varint(signed(timeMs - oldestOpenMs));
  const ids = Float64Array.from(known.keys()).sort();
  const isOpen = (id: number) => known.get(id) !== null;
  writeRuns(
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

/** @throws CursorInvalid when it is no cursor, or one of another feed. */
export function decodePosition(scope: string, cursor: string): Position {
  const position = read(scope, cursor);
  if (position) return position;
  throw new CursorInvalid(
    '`after` is not a cursor of this feed: pass the `cursor` of a change that this subscription delivered',
    { argument: 'after' },
  );
}

// Far more than a cursor can hold: what is longer is refused before it costs anything.
const longestCursor = 64 * 1024;

function read(scope: string, cursor: string): Position | null {
  if (cursor.length > longestCursor || !/^[\w-]+$/.test(cursor)) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  const input = new ByteReader(bytes);
  if (!input.hasValidChecksum() || input.uint(4) !== hash32(scope)) return null;
  const run = input.uint(4);
  const seq = input.varint();
  const timeMs = input.varint();
  const horizonMs = timeMs - unsigned(input.varint());
  const oldestOpenMs = timeMs - unsigned(input.varint());
  const known = new Map<number, number | null>();
  for (const id of readRuns(input)) known.set(id, null);
  let id = 0;
  for (let left = input.varint(); left > 0 && !input.isAtEnd; left--) {
    id += input.varint();
    known.set(id, input.uint(stateBytes));
  }
  if (!input.isAtEnd) return null;
  return { logged: run === 0 ? null : { run, seq }, timeMs, horizonMs, oldestOpenMs, known };
}

/** Upstream numbers its records one after the other (docs/interfaces.md P2): most of them lie in few unbroken runs. */
function writeRuns(out: ByteWriter, ids: Float64Array): void {
  const runs: { first: number; length: number }[] = [];
  for (const id of ids) {
    const last = runs.at(-1);
    if (last && id === last.first + last.length) last.length++;
    else runs.push({ first: id, length: 1 });
  }
  out.varint(runs.length);
  let end = 0;
  for (const { first, length } of runs) {
    out.varint((first - end) * 2 + (length === 1 ? 0 : 1));
    if (length > 1) out.varint(length);
    end = first + length;
  }
}

function readRuns(input: ByteReader): number[] {
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

// A few bytes could claim any number of records: more than a gateway ever knows are taken for none.
const mostKnown = 1_000_000;

// Integers ids stay below this, and hashes of other ids: doubled, they are still exact.
const idSpace = 2 ** 50;

/** A number for any id: itself where it is a plain integer, as upstream's are (docs/interfaces.md P2), else a hash. */
export function idNumber(id: string): number {
  const number = /^(0|[1-9]\d{0,15})$/.test(id) ? Number(id) : Number.NaN;
  if (number < idSpace / 2) return number;
  const high = hash32(`a${id}`) & 0xffff;
  return idSpace / 2 + high * 2 ** 32 + hash32(`b${id}`);
}

// Small numbers of either sign as small numbers without one.
const signed = (value: number) => (value < 0 ? -value * 2 - 1 : value * 2);
const unsigned = (value: number) => (value % 2 === 1 ? -(value + 1) / 2 : value / 2);

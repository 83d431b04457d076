import { asMoment, plus, type UnixMs } from '../../../clock.js';
import { CursorExpired, CursorInvalid } from '../../../errors.js';
import { limits } from '../../../limits.js';
import type { LogOffset } from '../../../store/store.js';
import { ByteReader, ByteWriter, hash32 } from './cursor-bytes.js';
import { RunningSums } from './known-digest.js';
import { readEntries, unknownState, writeEntries } from './known-entries.js';

/**
 * A position in a feed. It contains all that a resume needs after a restart or at another instance. All times in it are
 * on upstream's clock.
 */
export interface Position {
  /** Offset of the last change before it, in the epoch that issued it; null when it is not an offset of a log. */
  readonly logged: LogOffset | null;
  /** Time of upstream's newest record, in microseconds. */
  readonly timeUs: number;
  /** Number of the last record with that time. */
  readonly lastNumber: number;
  /** Every listed record before this time is known; from it on, only those in `known` and `rest`. */
  readonly horizonMs: UnixMs;
  /** Time of the oldest record that is not final: a resume need not look for earlier ones. */
  readonly oldestOpenMs: UnixMs;
  /** By `idNumber`, the newest first: null when final, else `stateNumber` of the state it was in. */
  readonly known: Known;
  /** Sums over the known records for which there was no room (`withRest`); null when there was. */
  readonly rest: readonly number[] | null;
}

type Known = ReadonlyMap<number, number | null>;

/** A position that has not been encoded yet. */
export interface FullPosition extends Omit<Position, 'rest'> {
  /** Records before the horizon that are not final. */
  readonly older: Known;
}

// Two states can have the same number: one in 65,535 updates during a restart is then delivered late.
/** The hash by which a position identifies a state that can still change. */
export function stateNumber(fingerprint: string): number {
  return hash32(fingerprint) % unknownState;
}

export interface CursorScope {
  /** A cursor is rejected by a feed with another name. */
  readonly name: string;
  /** True where every record becomes final, so that repeating the state of one that has not is harmless. */
  readonly allEnd: boolean;
}

/** Encodes the positions of one feed as opaque text of bounded length, and decodes them. */
export class Cursors {
  readonly #scope: CursorScope;
  readonly #sums = new RunningSums(mostSums);
  readonly #mostBytes: number;

  constructor(scope: CursorScope) {
    this.#scope = scope;
    const { triggerCursorCharacters, feedCursorCharacters } = limits;
    const characters = scope.allEnd ? triggerCursorCharacters : feedCursorCharacters;
    // The point between the parts, and what either part is rounded up by.
    this.#mostBytes = Math.floor(((characters - 3) / 4) * 3);
  }

  /**
   * Writes all known records where there is room (docs/behaviour.md 9.4). Otherwise the states of those that are not
   * final are left out, where that is harmless; otherwise the newest records are written and the sums of the others.
   */
  encode(position: FullPosition): string {
    const { known, older } = position;
    const out = this.#begin(position);
    const { allEnd } = this.#scope;
    const room = this.#mostBytes - out.length - mostEndBytes;
    const all = older.size === 0 ? known : new Map([...known, ...older]);
    if (writeEntries(out, all, allEnd, room)) return this.#finished(out, []);
    // Of a feed whose records never become final, older ones than a day count as known (docs/behaviour.md 9.2).
    const oldestOpenMs = allEnd ? position.oldestOpenMs : position.horizonMs;
    const begun = this.#begin({ ...position, oldestOpenMs });
    const newest = new Map(first(known, mostNewest));
    writeEntries(begun, newest, false, this.#mostBytes);
    return this.#finished(begun, this.#sums.of(without(newest, allEnd ? all : known)));
  }

  /**
   * Encodes a decoded position with known records added. They take the room of sums, down to a quarter of these; where
   * they need more they are left out, and a resume at an instance that has not read them delivers them again.
   */
  encodeWith(position: Position, added: Known): string {
    const known = new Map([...added, ...position.known, ...added]);
    if (!position.rest) return this.encode({ ...position, known, older: new Map() });
    const out = this.#begin(position);
    const room = this.#mostBytes - out.length - mostEndBytes - (mostSums / 4) * bytesPerSum;
    if (!writeEntries(out, known, false, room)) writeEntries(out, position.known, false, this.#mostBytes);
    return this.#finished(out, position.rest);
  }

  /**
   * @throws CursorInvalid when the text is not a cursor, or is one of another feed; CursorExpired when an earlier
   * version of the gateway made it
   */
  decode(cursor: string): Position {
    const position = this.#read(cursor);
    if (position) return position;
    throw new CursorInvalid(
      '`after` is not a cursor of this feed: pass the `cursor` of a change that this subscription delivered',
      { argument: 'after' },
    );
  }

  #begin({ logged, timeUs, lastNumber, horizonMs, oldestOpenMs }: Omit<FullPosition, 'known' | 'older'>) {
    const out = new ByteWriter();
    const timeMs = Math.floor(timeUs / 1000);
    out.uint(hash32(`${version} ${this.#scope.name}`), 4);
    out.uint(logged?.epoch ?? 0, 4);
    out.varint(logged?.offset ?? 0);
    out.varint(timeUs);
    out.varint(lastNumber);
    out.varint(signed(timeMs - horizonMs));
    out.varint(signed(timeMs - oldestOpenMs));
    return out;
  }

  #finished(out: ByteWriter, sums: readonly number[]): string {
    const room = this.#mostBytes - mostEndBytes - out.length;
    const written = sums.slice(0, Math.max(1, Math.floor(room / bytesPerSum)));
    out.varint(written.length);
    for (const sum of written) out.uint(sum, bytesPerSum);
    out.uint(out.checksum(), 4);
    return textOf(out.bytes());
  }

  #read(cursor: string): Position | null {
    if (cursor.length > longestEarlierCursor || !/^[\w-]+(\.[\w-]+)?$/.test(cursor)) return null;
    const parts = cursor.split('.').map((part) => Buffer.from(part, 'base64url'));
    const input = new ByteReader(Buffer.concat(parts));
    if (!input.hasValidChecksum()) return null;
    const scope = input.uint(4);
    if (scope === hash32(this.#scope.name)) throw new CursorExpired(expired, { argument: 'after' });
    if (scope !== hash32(`${version} ${this.#scope.name}`)) return null;
    const epoch = input.uint(4);
    const offset = input.varint();
    const timeUs = input.varint();
    const lastNumber = input.varint();
    const timeMs: UnixMs = asMoment(Math.floor(timeUs / 1000));
    const horizonMs = plus(timeMs, -unsigned(input.varint()));
    const oldestOpenMs = plus(timeMs, -unsigned(input.varint()));
    const known = readEntries(input);
    const count = Math.min(mostSums, input.varint());
    const sums = Array.from({ length: count }, () => input.uint(bytesPerSum));
    if (!input.isAtEnd) return null;
    const logged = epoch === 0 ? null : { epoch, offset };
    return { logged, timeUs, lastNumber, horizonMs, oldestOpenMs, known, rest: count === 0 ? null : sums };
  }
}

/**
 * In two parts where the position has an offset of a log, with the feed and the offset in the first: instances that follow
 * one log write the same one (docs/behaviour.md 9.4), whatever they know beside it.
 */
function textOf(bytes: Uint8Array): string {
  const input = new ByteReader(bytes);
  input.uint(4);
  const epoch = input.uint(4);
  input.varint();
  const parts = epoch === 0 ? [bytes] : [bytes.subarray(0, input.at), bytes.subarray(input.at)];
  return parts.map((part) => Buffer.from(part).toString('base64url')).join('.');
}

export const expired =
  'Too much has happened since this cursor to go on from it without loss: list what you need, and subscribe afresh';

const version = 2;
// Cursors of the first version grew with the number of records.
const longestEarlierCursor = 64 * 1024;
// The number of sums, and the checksum.
const mostEndBytes = 2 + 4;
// Records that are written beside the sums: they are the likeliest to change, and to be unknown to other instances.
const mostNewest = 24;
const bytesPerSum = 4;
const mostSums = 128;

function* first<T>(values: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const value of values) {
    if (left-- === 0) return;
    yield value;
  }
}

function* without(some: Known, all: Known): Generator<readonly [number, number | null]> {
  for (const entry of all) if (!some.has(entry[0])) yield entry;
}

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

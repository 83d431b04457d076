import type { ForwardMs } from '../clock.js';
import { BadUserInput, CursorInvalid, GatewayError, type Source } from '../errors.js';
import { unreadableRecords } from '../upstream/decode/response.js';

/** One page of a list in the shape of the graph's connections. */
export interface Slice<T> {
  readonly edges: readonly Edge<T>[];
  readonly pageInfo: PageInfo;
  /** Interfaces that could not answer, or sent records that cannot be read. Records that only they have are missing from the list. */
  readonly unavailableSources: readonly UnavailableSource[];
}

/** The part of all records that a list covers: a feed continues from it. */
export interface ListReach<T> {
  /** Read time of the oldest response of the list. */
  readonly readAtMs: ForwardMs;
  /** True for a record that the list would have, had it been there when the list was read. */
  includes(record: T): boolean;
}

export interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}

/** Encodes its cursor on demand: of hundreds, usually only the last is selected. */
export function edgeOf<T>(node: T, cursorOf: () => string): Edge<T> {
  return {
    node,
    get cursor() {
      return cursorOf();
    },
  };
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export interface UnavailableSource {
  readonly source: Source;
  /** A code of docs/behaviour.md 4. */
  readonly code: string;
  readonly message: string;
  readonly retryAfterS: number | null;
}

function unavailableSource(source: Source, { code, message, retryAfterS }: GatewayError): UnavailableSource {
  return { source, code, message, retryAfterS: retryAfterS ?? null };
}

/** The entries for failures by interface. @throws a failure that is none of an interface */
export function unavailableSources(failures: ReadonlyMap<Source, unknown>): readonly UnavailableSource[] {
  return [...failures].map(([source, failure]) => {
    if (!(failure instanceof GatewayError)) throw failure;
    return unavailableSource(source, failure);
  });
}

/** The entry for `count` records of a list that could not be read. */
export function lossOf(source: Source, count: number): readonly UnavailableSource[] {
  return count > 0 ? [unavailableSource(source, unreadableRecords(source, count))] : [];
}

/**
 * A slice of these edges; `more` says in which directions the list continues. `cursorReached`: the end of a list that was
 * cut behind its last edge; null for other lists. Encoded on demand, as the cursors of edges are.
 */
export function sliceOf<T>(
  edges: readonly Edge<T>[],
  more: { readonly next: boolean; readonly previous: boolean },
  unavailableSources: readonly UnavailableSource[] = [],
  cursorReached: () => string | null = () => null,
): Slice<T> {
  return {
    edges,
    pageInfo: {
      hasNextPage: more.next,
      hasPreviousPage: more.previous,
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      get endCursor() {
        return cursorReached() ?? edges.at(-1)?.cursor ?? null;
      },
    },
    unavailableSources,
  };
}

/** `first` with `after`, or `last` with `before`. */
export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** Records of a page where the client asks for no number. */
export const defaultFirst = 50;

/** Number of records that a page is asked for. */
export function countOf({ first, last }: Pick<PageArgs, 'first' | 'last'>, byDefault = defaultFirst): number {
  return first ?? last ?? byDefault;
}

/** True for a page that is read from the end of its list, or from before a cursor. */
export function isBackward({ first, last, before }: Omit<PageArgs, 'after'>): boolean {
  return last != null || (first == null && before != null);
}

/** The part of a list that a page shows, seen from the end at which it is read. */
export interface PageRequest {
  readonly count: number;
  /** Null for the beginning of the list, or its end where it is read backward. */
  readonly cursor: string | null;
  readonly argument: 'after' | 'before';
  readonly isBackward: boolean;
}

/** @throws BadUserInput for arguments of both directions */
export function pageRequestOf(args: PageArgs, byDefault = defaultFirst): PageRequest {
  const { first, last, after, before } = args;
  if (first != null && last != null)
    throw new BadUserInput('`first` and `last` exclude each other: give one of them', { argument: 'last' });
  const count = countOf(args, byDefault);
  const fromEnd = isBackward(args);
  if (fromEnd ? after != null : before != null) {
    const argument = fromEnd ? 'after' : 'before';
    throw new BadUserInput('`after` goes with `first`, and `before` with `last`', { argument });
  }
  return fromEnd
    ? { count, cursor: before ?? null, argument: 'before', isBackward: true }
    : { count, cursor: after ?? null, argument: 'after', isBackward: false };
}

/** The page of a list in which nothing can match, as if it had been read: the list continues where the cursor is. */
export function emptySliceOf<T>(
  { after, before }: PageArgs,
  unavailableSources: readonly UnavailableSource[] = [],
): Slice<T> {
  return sliceOf<T>([], { next: before != null, previous: after != null }, unavailableSources);
}

/** The slice in list order of a page that was read backward. */
export function reversed<S extends Slice<unknown>>(slice: S): S {
  const { pageInfo } = slice;
  return {
    ...slice,
    edges: slice.edges.toReversed(),
    pageInfo: {
      hasNextPage: pageInfo.hasPreviousPage,
      hasPreviousPage: pageInfo.hasNextPage,
      get startCursor() {
        return pageInfo.endCursor;
      },
      get endCursor() {
        return pageInfo.startCursor;
      },
    },
  };
}

/**
 * Opaque, self-contained cursors: the gateway stores nothing for them, so they survive a restart and work on any
 * instance. `list` names the list (and, where it matters, its order) that a cursor belongs to.
 */
export function encodeCursor(list: string, position: unknown): string {
  return Buffer.from(JSON.stringify([list, position])).toString('base64url');
}

/**
 * The position in a cursor of `list`, as `decode` returns it.
 * @throws CursorInvalid when the cursor belongs to another list or cannot be parsed.
 */
export function decodeCursor<T>(
  list: string,
  cursor: string,
  argument: string,
  decode: (position: unknown) => T | null,
): T {
  const position = parse(list, cursor);
  const decoded = position === undefined ? null : decode(position);
  if (decoded === null) {
    throw new CursorInvalid(
      `\`${argument}\` is not a cursor of this list in this order: pass one that its edges or pageInfo gave`,
      { argument },
    );
  }
  return decoded;
}

function parse(list: string, cursor: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) && value.length === 2 && value[0] === list ? value[1] : undefined;
  } catch {
    return undefined;
  }
}

import type { ExecutionResult } from 'graphql';

/** What a client is sent. */
export interface Answer {
  /** Finished: with what it says to HTTP. */
  readonly result: ExecutionResult;
  /** The result as JSON, in pieces where it is long. */
  readonly json: string | Iterable<string>;
}

interface Http {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Status of the response, and headers that it needs besides, name and value in turn: as Yoga has it for the same result. */
export function statusOf(
  { data, errors, extensions }: ExecutionResult,
  mediaType: string,
): { readonly status: number; readonly headers: readonly string[] } {
  const http = extensions?.http as Http | undefined;
  if (http?.status !== undefined) {
    return { status: http.status, headers: Object.entries(http.headers ?? {}).flat() };
  }
  // 4xx without any data only for those who asked for the newer media type.
  const isOld = mediaType !== 'application/graphql-response+json';
  if (!errors || data !== undefined || isOld) return ok;
  return { status: Math.max(...errors.map((error) => error.extensions.http?.status ?? 400)), headers: [] };
}

const ok = { status: 200, headers: [] };

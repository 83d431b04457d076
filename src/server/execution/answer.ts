import type { ExecutionResult } from 'graphql';
import type { Json } from './json-pieces.js';

/** The response to one operation. */
export interface Answer {
  /** After `finishResult`: HTTP status and headers are in the `http` extension. */
  readonly result: ExecutionResult;
  /** The result as JSON; in pieces where it is long. */
  readonly json: Json;
}

interface Http {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Status and extra headers (name and value alternate), the same as Yoga gives for this result. */
export function statusOf(
  { data, errors, extensions }: ExecutionResult,
  mediaType: string,
): { readonly status: number; readonly headers: readonly string[] } {
  const http = extensions?.http as Http | undefined;
  if (http?.status !== undefined) {
    return { status: http.status, headers: Object.entries(http.headers ?? {}).flat() };
  }
  // A result without data has a 4xx status only under the newer media type; the older one keeps 200.
  const isOld = mediaType !== 'application/graphql-response+json';
  if (!errors || data !== undefined || isOld) return ok;
  return { status: Math.max(...errors.map((error) => error.extensions.http?.status ?? 400)), headers: [] };
}

const ok = { status: 200, headers: [] };

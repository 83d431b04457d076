/** A response of an interface, before it is written to a socket. */
export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: ReplyBody;
}

export type ReplyBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  | { readonly kind: 'stream'; readonly type: string; readonly chunks: Iterable<Uint8Array> };

/** One request as the two interfaces see it: the path without the prefix before `/v1`. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly search: URLSearchParams;
  readonly authorization: string | undefined;
  readonly nowMs: number;
}

export function jsonReply(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: { kind: 'json', value } };
}

/** The key of `Authorization: Bearer <key>`; undefined when the header is missing or of another form. */
export function bearerKey(authorization: string | undefined): string | undefined {
  return /^bearer +([^\s]+)$/i.exec(authorization ?? '')?.[1];
}

/** The decoded segments of a path after `/v1/`; undefined for a path outside it or one that does not decode. */
export function segmentsOf(path: string): string[] | undefined {
  if (!path.startsWith('/v1/')) return undefined;
  try {
    return path.slice('/v1/'.length).split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Of an error of the gateway, wherever a client keeps it. */
export interface Problem {
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: { readonly code?: string; readonly retryAfterS?: number };
}

/** Short enough for the place where the value would have been. */
export function textOf({ extensions: { code, retryAfterS } = {} }: Problem): string {
  const reason = code === 'UPSTREAM_RATE_LIMITED' ? 'busy' : 'not available';
  return retryAfterS === undefined ? reason : `${reason}, again in ${Math.ceil(retryAfterS)} s`;
}

/** The error at a place of the answer, or at one that it lies in. */
export function problemAt(
  path: readonly (string | number)[],
  problems: readonly Problem[],
): Problem | undefined {
  return problems.find((problem) => problem.path?.every((part, index) => part === path[index]));
}

/** True where a feed can no longer be resumed: the list is read again, and followed from its `changesCursor`. */
export function isCursorLost({ extensions }: Problem): boolean {
  return extensions?.code?.startsWith('CURSOR_') ?? false;
}

import type { FormattedExecutionResult } from 'graphql';
import { GraphError, networkError } from '../errors.js';

/** An operation as it is sent. */
export interface OperationText {
  readonly query: string;
  readonly variables: object;
}

export type Headers = Readonly<Record<string, string>>;

export interface Post {
  readonly url: string;
  readonly headers: Headers;
  readonly accept: string;
  readonly signal: AbortSignal | null;
}

/**
 * Sends an operation; throws `GraphError` where no response comes, `TypeError` where the request cannot be made at all, and
 * the signal's reason where it aborts.
 */
export async function post(
  operation: OperationText,
  { url, headers, accept, signal }: Post,
): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept },
    body: JSON.stringify(operation),
    signal,
  };
  // A wrong address, header or variable is no fault of the network: another attempt would meet it again. So it is
  // thrown here.
  new Request(url, init);
  try {
    // Not `fetch(request)`: Node forgets the signal of a request object once that has been garbage-collected, and the
    // response could no longer be aborted.
    return await fetch(url, init);
  } catch (error) {
    signal?.throwIfAborted();
    throw networkError(`There is no connection to ${url}`, error);
  }
}

/** The result in a response of JSON, whatever its status; throws `GraphError` where there is none. */
export async function resultIn(response: Response): Promise<FormattedExecutionResult> {
  const text = await response.text().catch((error) => {
    throw networkError('The response broke off', error);
  });
  const result = parsedResult(text);
  if (result) return result;
  // A proxy answers by itself while the gateway behind it is away, or while it limits the rate.
  if (response.status >= 500 || response.status === 429) {
    throw networkError(`The response has status ${response.status}`, undefined, retryAfterOf(response));
  }
  throw new GraphError({ message: `${response.url} is no gateway: status ${response.status}` });
}

/** Seconds until the time that `Retry-After` names, as a number of seconds or as a date (RFC 9110 10.2.3). */
function retryAfterOf({ headers }: Response): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

/** Null where the text is not a result in JSON. */
export function parsedResult(text: string): FormattedExecutionResult | null {
  const value = parsed(text);
  const isResult = typeof value === 'object' && value !== null && ('data' in value || 'errors' in value);
  return isResult ? (value as FormattedExecutionResult) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type Answer, answerOf } from '../answer.js';
import { overEventStream } from '../connection/event-stream.js';
import type { Headers } from '../connection/post.js';
import { overSocket } from '../connection/socket.js';
import { acrossTabs, canShare } from './across-tabs.js';
import { resumable } from './resumable.js';
import { resumed } from './resumed.js';

/**
 * Holds the cursor of the last change that was taken, beyond the page or the process. What `get` throws ends the
 * subscription, since without the cursor changes would be lost; where `set` fails, changes come again later.
 */
export interface CursorStore {
  get(): string | null | undefined | Promise<string | null | undefined>;
  set(cursor: string): unknown;
}

export interface ResumeOptions<Variables> {
  /** Address of the graph, with its path `/graphql`; it may be relative to the page in a browser. */
  readonly url: string;
  /** Variables of the document; the one that the document passes as `after` is set from the cursor, whatever its name. */
  readonly variables?: Partial<Variables>;
  /** Begins behind this change, such as `changesCursor` of a list, whatever the store holds. */
  readonly cursor?: string | null;
  /** Stores the cursor beyond a reload or a crash; without one the cursor is in memory alone. */
  readonly store?: CursorStore;
  /** Server-sent events are shared by the tabs of an origin, a WebSocket by the subscriptions of a page. */
  readonly transport: 'ws' | 'sse';
  /** They are sent with each request of server-sent events. */
  readonly headers?: Headers;
  /** Payload of `connection_init`, with a WebSocket: `authorization`, `catalogueKey`. */
  readonly connectionParams?: Readonly<Record<string, unknown>>;
  /** The class `WebSocket` of the package `ws`, on a Node before 22. */
  readonly webSocketImpl?: unknown;
  /**
   * Called with true when the subscription has a connection, and with false when it has lost it or did not get it: until the
   * next one, what is shown is old. A tab that shares the connection of another tab gets no call.
   */
  readonly onConnection?: (isConnected: boolean) => void;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/**
 * The changes of a feed, each once, through lost connections and restarts of the gateway. A change counts as taken when the
 * next one is asked for, and its cursor goes to the store then: a change in whose midst a page crashed, or left the loop,
 * comes again. Throws `GraphError` where another attempt would fail as well, and at once where the document cannot be resumed.
 */
export function subscribeWithResume<Data, Variables extends object>(
  document: TypedDocumentNode<Data, Variables>,
  options: ResumeOptions<Variables>,
): AsyncIterableIterator<Answer<Data>> {
  const { url, variables = {}, store, transport, headers = {}, connectionParams = {} } = options;
  const subscription = resumable(document, variables);
  const connect =
    transport === 'sse'
      ? overEventStream(url, headers)
      : overSocket({ url, connectionParams, webSocketImpl: options.webSocketImpl });
  const write = cursorWriter(store);
  const leaving = new AbortController();
  const signal = AbortSignal.any([leaving.signal, ...(options.signal ? [options.signal] : [])]);
  const open = (from: string | null, until: AbortSignal) =>
    resumed(subscription, connect, from, until, options.onConnection);

  async function* answers(): AsyncGenerator<Answer<Data>> {
    const from = options.cursor ?? (await unlessAborted(store?.get(), signal)) ?? null;
    if (signal.aborted) return;
    const changes =
      transport === 'sse' && canShare()
        ? acrossTabs(await nameOf([url, subscription.behind(null), headers]), from, signal, open)
        : open(from, signal);
    for await (const { cursor, result } of changes) {
      if (signal.aborted) return;
      yield answerOf<Data>(result);
      await unlessAborted(write(cursor), signal);
    }
  }

  const iterator = answers();
  return {
    next: () => iterator.next(),
    // The generator alone would wait for the next change, which may take hours.
    return() {
      leaving.abort();
      return iterator.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** A cursor that cannot be stored, as where the storage of a browser is full or forbidden, ends no feed: one warning says so. */
function cursorWriter(store: CursorStore | undefined): (cursor: string) => Promise<void> {
  let hasFailed = false;
  return async (cursor) => {
    try {
      await store?.set(cursor);
    } catch (error) {
      if (!hasFailed) console.warn(`The cursor of a feed is not stored: ${error}`);
      hasFailed = true;
    }
  };
}

/** Resolves with the signal as well: a store that does not answer must not delay a client that leaves. */
function unlessAborted<T>(
  value: T | Promise<T>,
  signal: AbortSignal,
): T | undefined | Promise<T | undefined> {
  if (!(value instanceof Promise)) return value;
  if (signal.aborted) return undefined;
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined);
    signal.addEventListener('abort', leave, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** Tabs that ask for the same, with the same credentials; a hash, since the names of locks can be listed. */
async function nameOf(parts: readonly unknown[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)));
  return `seisgraph ${Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

import { Queue } from '../connection/queue.js';
import { Chain, positionOf } from './chain.js';
import type { Change } from './resumed.js';

/** Messages between the tabs of an origin about one subscription. */
type Message =
  /** A tab has come and asks where the leader is. */
  | { readonly kind: 'joined' }
  /** The leader goes on from here. */
  | { readonly kind: 'at'; readonly cursor: string | null }
  | { readonly kind: 'change'; readonly change: Change };

type Source = (from: string | null, signal: AbortSignal) => AsyncIterable<Change>;

/** The tabs of one origin can elect a leader and talk to it. Only a secure page (https, or of this machine) has locks. */
export function canShare(): boolean {
  return (
    globalThis.document !== undefined && navigator.locks !== undefined && 'BroadcastChannel' in globalThis
  );
}

/**
 * The changes behind a cursor, over one connection of all tabs that use the same name. A tab whose consumer is far behind
 * leaves the others, which it must not hold up, and joins them again when its consumer has taken the changes that it has.
 */
export async function* acrossTabs(
  name: string,
  from: string | null,
  signal: AbortSignal,
  open: Source,
): AsyncGenerator<Change> {
  let at = from;
  while (!signal.aborted) {
    for await (const change of withOthers(name, at, signal, open)) {
      at = change.cursor;
      yield change;
    }
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'SecurityError';
}

/**
 * The holder of a Web Lock leads, and broadcasts what it receives. When it leaves or its tab closes, the browser gives the
 * lock to another, which resumes from its own cursor. A tab that is not where the leader is, because it began with an older
 * cursor or missed a message, has a connection of its own until it is. Ends where the consumer is too far behind.
 */
async function* withOthers(
  name: string,
  from: string | null,
  outer: AbortSignal,
  open: Source,
): AsyncGenerator<Change> {
  const channel = new BroadcastChannel(name);
  const leaving = new AbortController();
  const signal = AbortSignal.any([outer, leaving.signal]);
  const chain = new Chain(from);
  const queue = new Queue<Change>(() => leaving.abort());
  let isLeader = false;
  let leaderAt: string | null = from;
  let catchingUp: AbortController | null = null;

  const say = (message: Message) => channel.postMessage(message);
  const take = (change: Change) => {
    for (const taken of chain.take(change)) queue.push(taken);
  };
  const fail = (error: unknown) => {
    queue.end({ error });
    leaving.abort();
  };

  function keepUp(): void {
    if (isLeader || signal.aborted) return;
    if (positionOf(chain.at) === positionOf(leaderAt)) {
      catchingUp?.abort();
      catchingUp = null;
      chain.forget();
    } else if (catchingUp === null) {
      catchingUp = new AbortController();
      catchUp(AbortSignal.any([signal, catchingUp.signal])).catch(fail);
    }
  }

  async function catchUp(until: AbortSignal): Promise<void> {
    for await (const change of open(chain.at, until)) {
      // The others have brought it meanwhile, or the tab leads and receives it again.
      if (until.aborted) return;
      take(change);
      keepUp();
      await queue.drained();
    }
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'joined') {
      if (isLeader) say({ kind: 'at', cursor: chain.at });
      return;
    }
    // A leader receives by its own connection the changes that the leader before had still on their way.
    if (isLeader) return;
    // A tab without a cursor begins where the leader is.
    chain.begin(data.kind === 'at' ? data.cursor : data.change.after);
    if (data.kind === 'change') take(data.change);
    leaderAt = data.kind === 'at' ? data.cursor : data.change.cursor;
    keepUp();
  };

  async function lead(): Promise<void> {
    if (signal.aborted) return;
    isLeader = true;
    catchingUp?.abort();
    chain.forget();
    say({ kind: 'at', cursor: chain.at });
    for await (const change of open(chain.at, signal)) {
      if (signal.aborted) return;
      say({ kind: 'change', change });
      take(change);
    }
  }

  const leave = () => {
    queue.end();
    // A closed channel hands over no more messages, also while the consumer is still at the changes before.
    channel.close();
  };
  signal.addEventListener('abort', leave, { once: true });
  const request = navigator.locks.request(name, { signal }, lead);
  // A frame without an origin, or a page that may store nothing, has locks that refuse: it leads for itself.
  request.catch((error) => (isForbidden(error) ? lead() : Promise.reject(error))).catch(fail);
  say({ kind: 'joined' });
  try {
    yield* queue;
  } finally {
    leaving.abort();
  }
}

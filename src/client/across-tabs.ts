import { Chain } from './chain.js';
import { Queue } from './queue.js';
import type { Change } from './resumed.js';

/** What the tabs of an origin tell each other about one subscription. */
type Message =
  /** A tab has come and asks where the leader is. */
  | { readonly kind: 'joined' }
  /** The leader goes on from here. */
  | { readonly kind: 'at'; readonly cursor: string | null }
  | { readonly kind: 'change'; readonly change: Change };

/** The tabs of one origin can elect a leader and talk to it. Only a secure page (https, or of this machine) has locks. */
export function canShare(): boolean {
  return (
    globalThis.document !== undefined && navigator.locks !== undefined && 'BroadcastChannel' in globalThis
  );
}

/**
 * The changes behind a cursor, over one connection of all tabs that use the same name: the holder of a Web Lock leads, and
 * broadcasts what it receives. When its tab closes the browser gives the lock to another, which resumes from its own
 * cursor. A tab that is not where the leader is, because it began with an older cursor or missed a message, has a
 * connection of its own until it is.
 */
export async function* acrossTabs(
  name: string,
  from: string | null,
  outer: AbortSignal,
  open: (from: string | null, signal: AbortSignal) => AsyncIterable<Change>,
): AsyncGenerator<Change> {
  if (outer.aborted) return;
  const channel = new BroadcastChannel(name);
  const leaving = new AbortController();
  const signal = AbortSignal.any([outer, leaving.signal]);
  const chain = new Chain(from);
  const queue = new Queue<Change>();
  let isLeader = false;
  let leaderAt: string | null = from;
  let catchingUp: AbortController | null = null;

  const say = (message: Message) => channel.postMessage(message);
  const take = (change: Change) => {
    for (const taken of chain.take(change)) queue.push(taken);
  };

  function keepUp(): void {
    if (isLeader || signal.aborted) return;
    if (chain.at === leaderAt) {
      catchingUp?.abort();
      catchingUp = null;
      chain.forget();
    } else if (catchingUp === null) {
      catchingUp = new AbortController();
      catchUp(AbortSignal.any([signal, catchingUp.signal])).catch((error) => queue.end({ error }));
    }
  }

  async function catchUp(until: AbortSignal): Promise<void> {
    for await (const change of open(chain.at, until)) {
      take(change);
      keepUp();
    }
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'joined') {
      if (isLeader) say({ kind: 'at', cursor: chain.at });
      return;
    }
    // What the leader before still had on its way comes over the own connection.
    if (isLeader) return;
    // A tab without a cursor begins where the leader is.
    chain.begin(data.kind === 'at' ? data.cursor : data.change.after);
    if (data.kind === 'change') take(data.change);
    leaderAt = data.kind === 'at' ? data.cursor : data.change.cursor;
    keepUp();
  };

  async function lead(): Promise<void> {
    isLeader = true;
    catchingUp?.abort();
    say({ kind: 'at', cursor: chain.at });
    for await (const change of open(chain.at, signal)) {
      take(change);
      say({ kind: 'change', change });
    }
  }

  signal.addEventListener('abort', () => queue.end(), { once: true });
  navigator.locks.request(name, { signal }, lead).catch((error) => queue.end({ error }));
  say({ kind: 'joined' });
  try {
    yield* queue;
  } finally {
    leaving.abort();
    channel.close();
  }
}

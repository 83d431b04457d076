import { asMoment, type Clock, type ForwardMs } from '../../clock.js';
import { type Appended, BatchedJournal, type NewEntry, type ReadUpTo } from '../batched-journal.js';
import { type BodiesBackend, type Claim, ClaimedBodies, type OpenedBody } from '../claimed-bodies.js';
import type { SharedMs } from '../shared-time.js';
import type { Connection, LogOffset, SharedChanges, Store } from '../store.js';
import type { Channel } from './channel.js';
import type { HubCalls, HubNotices } from './hub.js';

/** One instance's client of the hub. It is up until the channel closes, which is final. */
export function openHubStore(channel: Channel<HubCalls>, clock: Clock): Store {
  const appendListeners = new Map<string, () => void>();
  const clearListeners = new Map<string, Set<() => void>>();
  let instances = 1;
  const handlers: HubNotices = {
    appended: (name) => appendListeners.get(name)?.(),
    cleared: (name) => {
      for (const listener of clearListeners.get(name) ?? []) listener();
    },
    instances: (count) => {
      instances = count;
    },
  };
  channel.answer(handlers);
  const connection = connectionOf(channel);
  return {
    connection,
    settled: Promise.resolve(),
    get instances() {
      return instances;
    },
    bodies: (name) => new ClaimedBodies(bodiesIn(channel, clock, clearListeners, name)),
    journal: (name) =>
      new BatchedJournal({
        get isUp() {
          return channel.isOpen;
        },
        time: sameClock,
        append: (writer: string, readUpTo: ReadUpTo, entries: readonly NewEntry[]): Promise<Appended> =>
          channel.call('appendEntries', name, writer, readUpTo, entries),
      }),
    changes: (name) => changesIn(channel, connection, appendListeners, name),
    close: async () => {},
  };
}

/** Instances and hub run on one machine and share its clock. */
const sameClock = {
  toShared: (localMs: ForwardMs): SharedMs => asMoment(localMs),
  toLocal: (sharedMs: SharedMs): ForwardMs => asMoment(sharedMs),
  toLocalAtLatest: (sharedMs: SharedMs): ForwardMs => asMoment(sharedMs),
};

function connectionOf(channel: Channel<HubCalls>): Connection {
  const listeners = new Set<() => void>();
  channel.onClose(() => {
    for (const listener of [...listeners]) listener();
  });
  return {
    get isUp() {
      return channel.isOpen;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function bodiesIn(
  channel: Channel<HubCalls>,
  clock: Clock,
  clearListeners: Map<string, Set<() => void>>,
  name: string,
): BodiesBackend {
  return {
    clock,
    time: sameClock,
    async open(id: string, claim: Claim): Promise<OpenedBody> {
      const { packed, ...opened } = await channel.call('openBody', name, id, claim);
      // A structured clone turns a Buffer into a Uint8Array.
      return { ...opened, packed: packed && asBuffer(packed) };
    },
    isClaimed: (id, rank) => channel.call('isBodyClaimed', name, id, rank),
    whenReleased: (id) => channel.call('claimReleased', name, id),
    put: (id, generation, packed) => channel.call('putBody', name, id, generation, packed),
    extend: (id, claim) => channel.call('extendClaim', name, id, claim),
    release: (id, claimName) => channel.call('releaseClaim', name, id, claimName),
    clear: () => channel.call('clearBodies', name),
    onCleared(listener) {
      const listeners = clearListeners.get(name) ?? new Set();
      clearListeners.set(name, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearListeners.delete(name);
      };
    },
  };
}

function changesIn(
  channel: Channel<HubCalls>,
  connection: Connection,
  appendListeners: Map<string, () => void>,
  name: string,
): SharedChanges {
  return {
    connection,
    time: sameClock,
    attach: (own) => channel.call('attach', name, own),
    begin: (epoch, snapshot) => channel.call('begin', name, epoch, snapshot),
    append: (epoch, changes) => channel.call('appendChanges', name, epoch, changes),
    readAfter: (offset: LogOffset) => channel.call('readAfter', name, offset),
    replaceSnapshot: (offset, snapshot) => channel.call('replaceSnapshot', name, offset, snapshot),
    heartbeat: (progress) => channel.call('heartbeat', name, progress),
    leave: () => channel.call('leaveFeed', name).catch(() => {}),
    onAppend(listener) {
      appendListeners.set(name, listener);
      channel.notify('subscribe', name, true);
      return () => {
        appendListeners.delete(name);
        channel.notify('subscribe', name, false);
      };
    },
  };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

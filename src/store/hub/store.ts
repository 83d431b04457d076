import { asMoment, type Clock, type ForwardMs } from '../../clock.js';
import { type Appended, BatchedJournal, type NewEntry, type ReadUpTo } from '../batched-journal.js';
import { type BodiesBackend, type Claim, ClaimedBodies, type OpenedBody } from '../claimed-bodies.js';
import type { SharedMs } from '../shared-time.js';
import type { Connection, LogOffset, SharedChanges, Store } from '../store.js';
import type { Channel } from './channel.js';
import type { HubCalls, HubNotices } from './hub.js';

/** One instance's client of the hub. It is up until the channel closes, which is final. */
export function openHubStore(channel: Channel<HubCalls>, clock: Clock): Store {
  const bells = new Map<string, () => void>();
  const clearing = new Map<string, Set<() => void>>();
  let instances = 1;
  const handlers: HubNotices = {
    ring: (name) => bells.get(name)?.(),
    cleared: (name) => {
      for (const listener of clearing.get(name) ?? []) listener();
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
    bodies: (name) => new ClaimedBodies(bodiesIn(channel, clock, clearing, name)),
    journal: (name) =>
      new BatchedJournal({
        get isUp() {
          return channel.isOpen;
        },
        time: sameClock,
        append: (writer: string, heard: ReadUpTo, entries: readonly NewEntry[]): Promise<Appended> =>
          channel.call('append', name, writer, heard, entries),
      }),
    changes: (name) => changesIn(channel, connection, bells, name),
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
  clearing: Map<string, Set<() => void>>,
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
      const listeners = clearing.get(name) ?? new Set();
      clearing.set(name, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearing.delete(name);
      };
    },
  };
}

function changesIn(
  channel: Channel<HubCalls>,
  connection: Connection,
  bells: Map<string, () => void>,
  name: string,
): SharedChanges {
  return {
    connection,
    time: sameClock,
    attach: (own) => channel.call('attach', name, own),
    begin: (run, base) => channel.call('begin', name, run, base),
    append: (run, changes) => channel.call('publish', name, run, changes),
    readAfter: (place: LogOffset) => channel.call('readAfter', name, place),
    replaceSnapshot: (place, base) => channel.call('rebase', name, place, base),
    heartbeat: (pulse) => channel.call('beat', name, pulse),
    leave: () => channel.call('leaveFeed', name).catch(() => {}),
    onAppend(ring) {
      bells.set(name, ring);
      channel.tell('hearBell', name, true);
      return () => {
        bells.delete(name);
        channel.tell('hearBell', name, false);
      };
    },
  };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

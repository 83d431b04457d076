import type { Clock } from '../../clock.js';
import type { Appended, NewEntry, ReadUpTo } from '../batched-journal.js';
import type { Claim, OpenedBody } from '../claimed-bodies.js';
import type { Attached, Heartbeat, LogOffset, SharedChange } from '../store.js';
import { HubBodies } from './bodies.js';
import type { Channel } from './channel.js';
import { HubJournals } from './journal.js';
import { HubChanges } from './replicated-log.js';

/** The calls that the hub answers; `name` as in `Store`. */
export interface HubCalls {
  openBody(name: string, id: string, claim: Claim): OpenedBody;
  isBodyClaimed(name: string, id: string, rank: number): boolean;
  /** Answered when the present claim is released. */
  claimReleased(name: string, id: string): Promise<void>;
  putBody(name: string, id: string, generation: string, packed: Uint8Array | null): void;
  extendClaim(name: string, id: string, claim: Claim): void;
  releaseClaim(name: string, id: string, claimName: string): void;
  clearBodies(name: string): void;
  appendEntries(name: string, writer: string, readUpTo: ReadUpTo, entries: readonly NewEntry[]): Appended;
  attach(name: string, own: LogOffset | null): Attached | null;
  begin(name: string, epoch: number, snapshot: string): boolean;
  appendChanges(name: string, epoch: number, changes: readonly string[]): number | null;
  readAfter(name: string, offset: LogOffset): readonly SharedChange[] | null;
  replaceSnapshot(name: string, offset: LogOffset, snapshot: string): void;
  heartbeat(name: string, progress: string | null): Heartbeat;
  leaveFeed(name: string): void;
  /** Turns `appended` calls for a feed on or off. */
  subscribe(name: string, isSubscribed: boolean): void;
}

/** The calls that an instance answers. */
export interface HubNotices {
  appended(name: string): void;
  /** Another instance has cleared its bodies. */
  cleared(name: string): void;
  /** The number of instances has changed. */
  instances(count: number): void;
}

/**
 * Holds the state shared by the workers of one machine in memory, as Redis does for several machines. It runs in the
 * primary process, so that it lives as long as any worker.
 */
export class Hub {
  readonly #bodies: HubBodies;
  readonly #journals: HubJournals;
  readonly #changes: HubChanges;
  readonly #members = new Set<HubMember>();

  constructor({ clock, maxBytes }: { readonly clock: Clock; readonly maxBytes: number }) {
    this.#bodies = new HubBodies({ clock, maxBytes });
    this.#journals = new HubJournals(clock);
    this.#changes = new HubChanges(clock);
  }

  /** Estimated bytes of the stored bodies. */
  get cachedBytes(): number {
    return this.#bodies.bytes;
  }

  /** Answers one instance for as long as its channel is open. */
  serve(channel: Channel<HubNotices>): void {
    const member: HubMember = { channel, subscribed: new Set() };
    this.#members.add(member);
    channel.answer(this.#callsOf(member));
    channel.onClose(() => {
      this.#members.delete(member);
      this.#bodies.leave(member);
      this.#changes.lose(member);
      this.#broadcastCount();
    });
    this.#broadcastCount();
  }

  #callsOf(member: HubMember): HubCalls {
    const bodies = this.#bodies;
    const changes = this.#changes;
    const notify = (name: string) => this.#notify(name);
    return {
      openBody: (name, id, claim) => bodies.open(member, name, id, claim),
      isBodyClaimed: (name, id, rank) => bodies.isClaimed(name, id, rank),
      claimReleased: (name, id) => bodies.whenReleased(name, id),
      putBody: (name, id, generation, packed) =>
        bodies.put(name, id, generation, packed && Buffer.from(packed)),
      extendClaim: (name, id, claim) => bodies.extend(name, id, claim),
      releaseClaim: (name, id, claimName) => bodies.release(name, id, claimName),
      clearBodies: (name) => {
        bodies.clear(name);
        for (const other of this.#members) if (other !== member) other.channel.notify('cleared', name);
      },
      appendEntries: (name, writer, readUpTo, entries) =>
        this.#journals.append(name, writer, readUpTo, entries),
      attach: (name, own) => changes.attach(member, name, own),
      begin: (name, epoch, snapshot) => changes.begin(name, epoch, snapshot),
      appendChanges(name, epoch, texts) {
        const last = changes.append(member, name, epoch, texts);
        if (last !== null) notify(name);
        return last;
      },
      readAfter: (name, offset) => changes.readAfter(name, offset),
      replaceSnapshot: (name, offset, snapshot) => changes.replaceSnapshot(name, offset, snapshot),
      heartbeat: (name, progress) => changes.heartbeat(member, name, progress),
      leaveFeed(name) {
        changes.leave(member, name);
        notify(name);
      },
      subscribe(name, isSubscribed) {
        if (isSubscribed) member.subscribed.add(name);
        else member.subscribed.delete(name);
      },
    };
  }

  #notify(name: string): void {
    for (const { channel, subscribed } of this.#members)
      if (subscribed.has(name)) channel.notify('appended', name);
  }

  #broadcastCount(): void {
    for (const { channel } of this.#members) channel.notify('instances', this.#members.size);
  }
}

interface HubMember {
  readonly channel: Channel<HubNotices>;
  /** Names of the feeds for which it receives `appended`. */
  readonly subscribed: Set<string>;
}

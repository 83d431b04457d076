import type { Clock } from '../../clock.js';
import type { Appended, NewEntry, ReadUpTo } from '../batched-journal.js';
import type { Claim, OpenedBody } from '../claimed-bodies.js';
import type { Attached, Heartbeat, LogOffset, SharedChange } from '../store.js';
import { HubBodies } from './bodies.js';
import { HubChanges } from './changes.js';
import type { Channel } from './channel.js';
import { HubJournals } from './journal.js';

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
  append(name: string, writer: string, heard: ReadUpTo, entries: readonly NewEntry[]): Appended;
  attach(name: string, own: LogOffset | null): Attached | null;
  begin(name: string, run: number, base: string): boolean;
  publish(name: string, run: number, changes: readonly string[]): number | null;
  readAfter(name: string, place: LogOffset): readonly SharedChange[] | null;
  rebase(name: string, place: LogOffset, base: string): void;
  beat(name: string, pulse: string | null): Heartbeat;
  leaveFeed(name: string): void;
  /** Turns `ring` calls for a feed on or off. */
  hearBell(name: string, isHeard: boolean): void;
}

/** The calls that an instance answers. */
export interface HubNotices {
  ring(name: string): void;
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
    const member: HubMember = { channel, bells: new Set() };
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
    const ring = (name: string) => this.#ring(name);
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
        for (const other of this.#members) if (other !== member) other.channel.tell('cleared', name);
      },
      append: (name, writer, heard, entries) => this.#journals.append(name, writer, heard, entries),
      attach: (name, own) => changes.attach(member, name, own),
      begin: (name, run, base) => changes.begin(name, run, base),
      publish(name, run, texts) {
        const last = changes.publish(member, name, run, texts);
        if (last !== null) ring(name);
        return last;
      },
      readAfter: (name, place) => changes.readAfter(name, place),
      rebase: (name, place, base) => changes.rebase(name, place, base),
      beat: (name, pulse) => changes.beat(member, name, pulse),
      leaveFeed(name) {
        changes.leave(member, name);
        ring(name);
      },
      hearBell(name, isHeard) {
        if (isHeard) member.bells.add(name);
        else member.bells.delete(name);
      },
    };
  }

  #ring(name: string): void {
    for (const { channel, bells } of this.#members) if (bells.has(name)) channel.tell('ring', name);
  }

  #broadcastCount(): void {
    for (const { channel } of this.#members) channel.tell('instances', this.#members.size);
  }
}

interface HubMember {
  readonly channel: Channel<HubNotices>;
  /** Names of the feeds for which it receives `ring`. */
  readonly bells: Set<string>;
}

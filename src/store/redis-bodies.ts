import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';
import type { Timer } from '../clock.js';
import { claiming, forgetting, keeping, leaving, looking, opening } from './redis-bodies-scripts.js';
import type { RedisLink } from './redis-link.js';
import type { BodyPlace, SharedBodies, SharedBody } from './store.js';

// What is larger would hold up Redis for all others, and is rare: lists come in pages.
const mostBytes = 4 * 1024 * 1024;
// JSON shrinks to a tenth; what is shorter hardly gains.
const compressedFromBytes = 1_024;
// contract 5.6: for a day an answer is better than none.
const keptForMs = 24 * 3_600_000;
// One that was killed on its way holds up the others for no longer.
const claimMs = 3_000;
const claimAgainEveryMs = 1_000;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Bodies in Redis, each in one string of a generation: with the next one none is seen any more. */
export class RedisBodies implements SharedBodies {
  readonly #link: RedisLink;
  readonly #name: string;

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    this.#name = name;
  }

  async open(id: string, rank: number): Promise<BodyPlace> {
    const claim = randomUUID();
    try {
      const [generation, isOurs, text] = await this.#link.run(opening, this.#keys(id), [
        rank,
        claim,
        claimMs,
      ]);
      const place = new RedisPlace(this.#link, this.#keys(id), {
        generation: String(generation),
        claim: isOurs === 1 ? { rank, name: claim } : null,
      });
      place.kept = text instanceof Buffer ? await this.#read(text).catch(() => null) : null;
      return place;
    } catch {
      return nowhere;
    }
  }

  async isAsked(id: string, rank: number): Promise<boolean> {
    const [isAsked] = await this.#link.run(looking, this.#keys(id), [rank]).catch(() => []);
    return isAsked === 1;
  }

  clear(): void {
    this.#link.run(forgetting, [this.#link.key(this.#name, 'generation')], []).catch(() => undefined);
  }

  async #read(text: Buffer): Promise<SharedBody | null> {
    const headEnd = text.indexOf('\n');
    const head: Head = JSON.parse(text.toString('utf8', 0, headEnd));
    const rest = text.subarray(headEnd + 1);
    return {
      body: head.isAbsent
        ? null
        : head.isDeflated
          ? await inflate(rest, { maxOutputLength: mostBytes })
          : rest,
      readAtMs: this.#link.time.toLocal(head.readAtMs),
      version: head.version,
    };
  }

  #keys(id: string): readonly string[] {
    return ['generation', `body:${id}`, `asked:${id}`].map((part) => this.#link.key(this.#name, part));
  }
}

/** What stands before a body. */
interface Head {
  /** On the shared clock. */
  readonly readAtMs: number;
  readonly version: string | null;
  readonly isAbsent: boolean;
  readonly isDeflated: boolean;
}

class RedisPlace implements BodyPlace {
  kept: SharedBody | null = null;
  readonly #link: RedisLink;
  readonly #keys: readonly string[];
  readonly #generation: string;
  readonly #claim: Claim | null;
  #again: Timer | undefined;
  #done: Promise<unknown> = Promise.resolve();

  constructor(
    link: RedisLink,
    keys: readonly string[],
    { generation, claim }: { readonly generation: string; readonly claim: Claim | null },
  ) {
    this.#link = link;
    this.#keys = keys;
    this.#generation = generation;
    this.#claim = claim;
    this.#claimAgain();
  }

  get isOurs(): boolean {
    return this.#claim !== null;
  }

  keep(body: SharedBody): void {
    if ((body.body?.length ?? 0) <= mostBytes) this.#after(() => this.#keep(body));
  }

  forget(): void {
    this.#after(() => this.#link.run(keeping, this.#keys, [this.#generation]));
  }

  leave(): void {
    this.#again?.cancel();
    const claim = this.#claim;
    if (claim) this.#after(() => this.#link.run(leaving, this.#keys, [claim.name]));
  }

  async #keep({ body, readAtMs, version }: SharedBody): Promise<void> {
    const isDeflated = body !== null && body.length >= compressedFromBytes;
    const head: Head = {
      readAtMs: this.#link.time.toShared(readAtMs),
      version,
      isAbsent: body === null,
      isDeflated,
    };
    const packed = isDeflated ? await deflate(body, { level: constants.Z_BEST_SPEED }) : (body ?? '');
    const text = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), Buffer.from(packed)]);
    await this.#link.run(keeping, this.#keys, [this.#generation, text, keptForMs]);
  }

  /** In order, so that who waits for the end finds what was kept. */
  #after(run: () => Promise<unknown>): void {
    this.#done = this.#done.then(run).catch(() => undefined);
  }

  sending(): void {
    if (!this.#claim) return;
    this.#claim.rank = mostUrgent;
    this.#extend(this.#claim);
  }

  #claimAgain(): void {
    const claim = this.#claim;
    if (!claim) return;
    this.#again = this.#link.clock.timer(claimAgainEveryMs, () => {
      this.#extend(claim);
      this.#claimAgain();
    });
  }

  #extend({ rank, name }: Claim): void {
    this.#after(() => this.#link.run(claiming, this.#keys, [rank, name, claimMs]));
  }
}

/** That an instance asks for it. */
interface Claim {
  /** How urgently: lower is more. */
  rank: number;
  readonly name: string;
}

const mostUrgent = 0;

/** While Redis is away. */
const nowhere: BodyPlace = { kept: null, isOurs: true, sending() {}, keep() {}, forget() {}, leave() {} };

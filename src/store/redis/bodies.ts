import {
  type BodiesBackend,
  type Claim,
  ClaimedBodies,
  claimMs,
  type OpenedBody,
  storedForMs,
} from '../claimed-bodies.js';
import type { SharedBodies } from '../store.js';
import { claiming, forgetting, leaving, opening, readingClaim, storing } from './bodies-scripts.js';
import type { RedisLink } from './link.js';

/** Bodies in Redis, each stored as one string that begins with its generation. */
export function redisBodies(link: RedisLink, name: string): SharedBodies {
  return new ClaimedBodies(new RedisBodiesBackend(link, name));
}

class RedisBodiesBackend implements BodiesBackend {
  readonly #link: RedisLink;
  readonly #name: string;

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    this.#name = name;
  }

  get clock() {
    return this.#link.clock;
  }

  get time() {
    return this.#link.time;
  }

  async open(id: string, { rank, name }: Claim): Promise<OpenedBody> {
    const [generation, isOurs, text] = await this.#run(opening, id, [rank, name, claimMs]);
    return {
      generation: String(generation),
      isOurs: isOurs === 1,
      packed: text instanceof Buffer ? text : null,
    };
  }

  async isClaimed(id: string, rank: number): Promise<boolean> {
    const [isClaimed] = await this.#run(readingClaim, id, [rank]);
    return isClaimed === 1;
  }

  async put(id: string, generation: string, packed: Buffer | null): Promise<void> {
    await this.#run(storing, id, packed ? [generation, packed, storedForMs] : [generation]);
  }

  async extend(id: string, { rank, name }: Claim): Promise<void> {
    await this.#run(claiming, id, [rank, name, claimMs]);
  }

  async release(id: string, claimName: string): Promise<void> {
    await this.#run(leaving, id, [claimName]);
  }

  async clear(): Promise<void> {
    await this.#link.run(forgetting, [this.#link.key(this.#name, 'generation')], []);
  }

  #run(lua: string, id: string, args: readonly (string | number | Buffer)[]): Promise<unknown[]> {
    const keys = ['generation', `body:${id}`, `asked:${id}`].map((part) => this.#link.key(this.#name, part));
    return this.#link.run(lua, keys, args);
  }
}

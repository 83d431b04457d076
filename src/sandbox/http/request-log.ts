import { createHash } from 'node:crypto';
import { matches } from './path-pattern.js';

export type Source = 'project' | 'catalogue';

/** A request that has been answered, or whose client left before it was. */
export interface SeenRequest {
  readonly source: Source;
  readonly method: string;
  /** From `/v1` on, as sent. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The same for the same key, and no way back to it; null when none was sent. */
  readonly keyHash: string | null;
  /** When it arrived, on the sandbox's clock. */
  readonly atMs: number;
  /** Null when the connection ended without an answer. */
  readonly status: number | null;
  /** True when the client left before it had the whole answer. */
  readonly aborted: boolean;
}

/** The latest requests to the sandbox in the order of their responses, and those that are not answered yet. */
export class RequestLog {
  readonly #answered: SeenRequest[] = [];
  readonly #underWay = new Map<string, number>();
  readonly #most = new Map<string, number>();

  get answered(): readonly SeenRequest[] {
    return this.#answered;
  }

  seen(source: Source, path?: string | RegExp): SeenRequest[] {
    return this.#answered.filter((request) => request.source === source && matches(request.path, path));
  }

  forget(): void {
    this.#answered.length = 0;
    this.#most.clear();
    for (const [place, count] of this.#underWay) this.#most.set(place, count);
  }

  inFlight(source: Source, path = ''): number {
    return this.#underWay.get(source + path) ?? 0;
  }

  maxConcurrent(source: Source, path = ''): number {
    return this.#most.get(source + path) ?? 0;
  }

  #record(entry: SeenRequest): void {
    this.#answered.push(entry);
    // A sandbox that runs for weeks must not grow; cut rarely, as cutting moves all that stay.
    if (this.#answered.length > 1.2 * mostKept) this.#answered.splice(0, this.#answered.length - mostKept);
  }

  arrived(request: Omit<SeenRequest, 'status' | 'aborted'>): Visit {
    const places = [request.source, request.source + request.path];
    for (const place of places) {
      const count = (this.#underWay.get(place) ?? 0) + 1;
      this.#underWay.set(place, count);
      this.#most.set(place, Math.max(count, this.#most.get(place) ?? 0));
    }
    const entry = { ...request, status: null as number | null, aborted: false };
    let state: 'waiting' | 'answered' | 'left' = 'waiting';
    const leave = () => {
      if (state === 'left') return;
      state = 'left';
      for (const place of places) this.#underWay.set(place, (this.#underWay.get(place) ?? 1) - 1);
    };
    return {
      answering: (status) => {
        if (state !== 'waiting') return;
        state = 'answered';
        entry.status = status;
        this.#record(entry);
      },
      finished: leave,
      abandoned: () => {
        if (state === 'left') return;
        if (state === 'waiting') this.#record(entry);
        entry.aborted = true;
        leave();
      },
    };
  }
}

const mostKept = 100_000;

/** One request from its arrival to its end. */
export interface Visit {
  /** Called before the first byte leaves, so that a client that has the response finds it in the list. */
  answering(status: number | null): void;
  /** Called before the last byte leaves: a client that asks again at once does not count as asking twice at a time. */
  finished(): void;
  /** The client left. Does nothing after `finished`. */
  abandoned(): void;
}

export function keyHashOf(key: string | undefined): string | null {
  return key === undefined ? null : createHash('sha256').update(key).digest('hex').slice(0, 16);
}

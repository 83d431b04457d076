import { matches } from './path-pattern.js';
import type { Source } from './request-log.js';

/** Trouble scripted by a test. What a fault does not name stays as the interface would have answered. */
export interface Fault {
  readonly source: Source;
  /** `/v1/…` exactly, or a pattern for it; every path when not given. */
  readonly path?: string | RegExp;
  /** Number of requests that meet the fault; 1 unless given. */
  readonly times?: number;
  /** Number of requests that pass before it; 0 unless given. */
  readonly after?: number;
  readonly status?: number;
  /** Added to the answer's headers, or in place of them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the answer's body, verbatim. */
  readonly body?: string;
  /** The page of a proxy, with status 200 unless another is given, where JSON was due. */
  readonly wrongBody?: boolean;
  /** The answer's JSON, changed. Gets a copy, so that the world stays as it is. */
  readonly rewrite?: (body: unknown) => unknown;
  /** Time between the request and its answer, on the sandbox's clock. The answer is as of the request. */
  readonly latencyMs?: number;
  /** The connection is reset. */
  readonly drop?: boolean;
  /** The connection breaks in the middle of the body. */
  readonly truncate?: boolean;
  /** No answer ever. */
  readonly hang?: boolean;
}

/**
 * The script of trouble. Of the faults that match a request, the one added first is used up first; one that is
 * nothing but a latency comes on top of the next.
 */
export class Faults {
  #scripted: Scripted[] = [];

  add(fault: Fault): { remove(): void } {
    const scripted: Scripted = { fault, passes: fault.after ?? 0, left: fault.times ?? 1 };
    this.#scripted.push(scripted);
    return {
      remove: () => {
        this.#scripted = this.#scripted.filter((other) => other !== scripted);
      },
    };
  }

  clear(): void {
    this.#scripted = [];
  }

  /** The trouble that this request meets, used up by it. */
  take(source: Source, path: string): Partial<Fault> {
    let latencyMs = 0;
    for (const scripted of this.#scripted) {
      const { fault } = scripted;
      if (fault.source !== source || !matches(path, fault.path)) continue;
      if (scripted.passes > 0) {
        scripted.passes--;
        continue;
      }
      if (scripted.left <= 0) continue;
      scripted.left--;
      latencyMs += fault.latencyMs ?? 0;
      if (!isLatencyAlone(fault)) return { ...fault, latencyMs };
    }
    return { latencyMs };
  }
}

interface Scripted {
  readonly fault: Fault;
  passes: number;
  left: number;
}

const conditions = new Set(['source', 'path', 'times', 'after', 'latencyMs']);

const isLatencyAlone = (fault: Fault) => Object.keys(fault).every((name) => conditions.has(name));

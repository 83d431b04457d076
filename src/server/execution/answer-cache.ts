import { OperationTypeNode } from 'graphql';
import type { Clock } from '../../clock.js';
import type { Tenant } from '../../unify/context.js';
import { Dependencies } from '../../upstream/cache/dependencies.js';
import { createDerivedCache, type DerivedCache } from '../../upstream/cache/derived-cache.js';
import type { ResponseCache } from '../../upstream/cache/response-cache.js';
import { onAbort } from '../../upstream/http/abort.js';
import { KeptAnswer } from './kept-answer.js';
import type { Operation } from './operation.js';

/**
 * Whole answers to queries, each for as long as making it again would give the same. It stands behind access and client
 * rate and before parsing; whatever else a computed answer does (the log, metrics, the cost meter, revalidation) a kept one
 * does as well.
 */
export interface AnswerCache {
  /** The answer to what `request` says, if there is one that holds; it is counted as if it had been made again. */
  find(request: string, operation: Operation): KeptAnswer | null;
  /** Has it noted what the operation's answer is made of, so that it can be kept. To be called before it is executed. */
  note(operation: Operation): void;
  /** Whether the operation's answer, which has been made, may be kept. */
  mayKeep(operation: Operation): boolean;
  /** Keeps the answer; null where it may not be kept. */
  keep(request: string, operation: Operation, json: string): KeptAnswer | null;
  /** The same pieces, of which the answer is kept once the last has been taken. */
  keeping(request: string, operation: Operation, pieces: Iterable<string>): Iterable<string>;
  /** Answers found since the start. */
  readonly hitCount: number;
}

/** ANSWER_CACHE=false. */
export const noAnswerCache: AnswerCache = {
  find: () => null,
  note: () => {},
  mayKeep: () => false,
  keep: () => null,
  keeping: (_request, _operation, pieces) => pieces,
  hitCount: 0,
};

// One answer may not push out thousands of others. What is larger takes longer to send than to make.
const mostBytes = 4 * 1024 * 1024;

/** @param cache its bound holds for the answers, too */
export function createAnswerCache(responses: ResponseCache, clock: Clock): AnswerCache {
  const caches = new WeakMap<Tenant, DerivedCache>();
  let made = 0;
  let hitCount = 0;

  /** Tenants never mix: each has a part of the cache, which goes when the tenant does. */
  function cacheOf(tenant: Tenant): DerivedCache {
    const known = caches.get(tenant);
    if (known) return known;
    made += 1;
    const answers = createDerivedCache(responses.part(`answers ${made}`), clock);
    caches.set(tenant, answers);
    onAbort(tenant.signal, () => answers.clear());
    return answers;
  }

  function mayKeep({ dependencies, kind, client, meter, errorCodes }: Operation): boolean {
    if (dependencies === null || dependencies.refusal !== null) return false;
    if (kind !== OperationTypeNode.QUERY || meter.requests > 0 || errorCodes.size > 0) return false;
    return !client.tenant.signal.aborted;
  }

  function keep(request: string, operation: Operation, json: string): KeptAnswer | null {
    const { dependencies, name, client } = operation;
    if (!mayKeep(operation) || dependencies === null || json.length > mostBytes) return null;
    const cache = cacheOf(client.tenant);
    const kept: KeptAnswer = new KeptAnswer(Buffer.from(json), name, dependencies, () => {
      // Unless the cache has given it up since.
      if (cache.get(request) === kept) cache.put(request, kept, kept.bytes);
    });
    cache.put(request, kept, kept.bytes);
    return kept;
  }

  return {
    find(request, operation) {
      // What an operation has cost is asked of the operation itself; whether a demand is met, of each of its reads.
      if (operation.wantsCost || operation.demand) return null;
      const cache = cacheOf(operation.client.tenant);
      const answer = cache.get(request);
      if (!(answer instanceof KeptAnswer)) return null;
      if (answer.dependencies.state(clock.now()) === 'gone') {
        cache.delete(request);
        return null;
      }
      answer.dependencies.readAgain(operation.meter);
      operation.name = answer.name;
      operation.kind = OperationTypeNode.QUERY;
      hitCount += 1;
      return answer;
    },
    note(operation) {
      // Of a demand in the text of a request the next one is known only after its answer has been looked for.
      if (!operation.wantsCost && !operation.demand) operation.dependencies = new Dependencies();
    },
    mayKeep,
    keep,
    *keeping(request, operation, pieces) {
      if (!mayKeep(operation)) return yield* pieces;
      const taken: string[] = [];
      let length = 0;
      for (const piece of pieces) {
        length += piece.length;
        if (length <= mostBytes) taken.push(piece);
        else taken.length = 0;
        yield piece;
      }
      if (length <= mostBytes) keep(request, operation, taken.join(''));
    },
    get hitCount() {
      return hitCount;
    },
  };
}

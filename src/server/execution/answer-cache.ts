import { OperationTypeNode } from 'graphql';
import type { Clock } from '../../clock.js';
import type { Tenant } from '../../unify/context.js';
import { Dependencies } from '../../upstream/cache/dependencies.js';
import { createDerivedCache, type DerivedCache } from '../../upstream/cache/derived-cache.js';
import type { ResponseCache } from '../../upstream/cache/response-cache.js';
import { onAbort } from '../../upstream/http/abort.js';
import { CachedAnswer } from './cached-answer.js';
import type { Operation } from './operation.js';

/**
 * Cache of whole answers to queries, each valid for as long as executing the query again would give the same bytes. It
 * is consulted after authentication and the client rate limit, before parsing. A cached answer has the same side
 * effects as a computed one: log line, metrics, cost meter, revalidation.
 */
export interface AnswerCache {
  /** The valid cached answer to the text `request`, or null. A hit charges the cost meter as a new execution would. */
  find(request: string, operation: Operation): CachedAnswer | null;
  /** Starts recording the dependencies of the answer, without which it cannot be cached. Call it before execution. */
  note(operation: Operation): void;
  /** True if the answer of the executed operation may be cached. */
  mayWrite(operation: Operation): boolean;
  /** Caches the answer; null where it may not be cached. */
  write(request: string, operation: Operation, json: string): CachedAnswer | null;
  /** Passes the pieces through and caches the answer after the last one. */
  writing(request: string, operation: Operation, pieces: Iterable<string>): Iterable<string>;
  /** Cache hits since the start. */
  readonly hitCount: number;
}

/** ANSWER_CACHE=false. */
export const noAnswerCache: AnswerCache = {
  find: () => null,
  note: () => {},
  mayWrite: () => false,
  write: () => null,
  writing: (_request, _operation, pieces) => pieces,
  hitCount: 0,
};

// A larger answer would evict thousands of others, and takes longer to send than to compute.
const mostBytes = 4 * 1024 * 1024;

/** @param responses the answers count towards its byte bound */
export function createAnswerCache(responses: ResponseCache, clock: Clock): AnswerCache {
  const caches = new WeakMap<Tenant, DerivedCache>();
  let partCount = 0;
  let hitCount = 0;

  /** Each tenant has its own part of the cache, cleared when the tenant ends, so that no answer crosses tenants. */
  function cacheOf(tenant: Tenant): DerivedCache {
    const known = caches.get(tenant);
    if (known) return known;
    partCount += 1;
    const answers = createDerivedCache(responses.part(`answers ${partCount}`), clock);
    caches.set(tenant, answers);
    onAbort(tenant.signal, () => answers.clear());
    return answers;
  }

  function mayStore({ dependencies, kind, client, meter, errorCodes }: Operation): boolean {
    if (dependencies === null || dependencies.refusal !== null) return false;
    if (kind !== OperationTypeNode.QUERY || meter.requests > 0 || errorCodes.size > 0) return false;
    return !client.tenant.signal.aborted;
  }

  function store(request: string, operation: Operation, json: string): CachedAnswer | null {
    const { dependencies, name, client } = operation;
    if (!mayStore(operation) || dependencies === null || json.length > mostBytes) return null;
    const cache = cacheOf(client.tenant);
    const answer: CachedAnswer = new CachedAnswer(Buffer.from(json), name, dependencies, () => {
      // The cache may have evicted or replaced it meanwhile.
      if (cache.get(request) === answer) cache.put(request, answer, answer.bytes);
    });
    cache.put(request, answer, answer.bytes);
    return answer;
  }

  return {
    find(request, operation) {
      // The cost is measured by executing, and a demanded age is checked by each read: neither can use a cached answer.
      if (operation.wantsCost || operation.demand) return null;
      const cache = cacheOf(operation.client.tenant);
      const answer = cache.get(request);
      if (!(answer instanceof CachedAnswer)) return null;
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
      // A demand in the request text is not known yet when `find` runs, so answers made under a demand are not cached.
      if (!operation.wantsCost && !operation.demand) operation.dependencies = new Dependencies();
    },
    mayWrite: mayStore,
    write: store,
    *writing(request, operation, pieces) {
      if (!mayStore(operation)) return yield* pieces;
      const written: string[] = [];
      let length = 0;
      for (const piece of pieces) {
        length += piece.length;
        if (length <= mostBytes) written.push(piece);
        else written.length = 0;
        yield piece;
      }
      if (length <= mostBytes) store(request, operation, written.join(''));
    },
    get hitCount() {
      return hitCount;
    },
  };
}

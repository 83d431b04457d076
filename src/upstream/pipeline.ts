import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { GatewayError, type Source, Unauthenticated } from '../errors.js';
import { address } from './address.js';
import { type Use, useOf } from './ages.js';
import { badBody, notFound, readAnswer, requestIdOf } from './answer.js';
import type { CachePart, Kept } from './cache.js';
import { Exchange } from './exchange.js';
import { Flight, ownControl } from './flight.js';
import { freezeAndMeasure } from './freeze.js';
import type { HttpAnswer, HttpStream } from './http.js';
import { canBeRescued, isDefinite } from './outcome.js';
import { newCostMeter, noteRequestId, type Read, type ReadScope, type UpstreamStatus } from './read.js';
import type { ReadRequest, Request, UpstreamOptions } from './request.js';
import { createShelf, type Shelf } from './shelf.js';
import { Slices } from './slices.js';
import { Trust } from './trust.js';
import { type Seen, Versions } from './versions.js';

// Of answers, read in one turn of the event loop: the largest of many that arrive together takes long enough by itself.
const bytesPerTurn = 128 * 1024;

/** Every read of one interface under one key goes through here (contract 5). */
export class Pipeline {
  readonly #source: Source;
  readonly #options: UpstreamOptions;
  readonly #exchange: Exchange;
  readonly #kept: CachePart;
  /** What others make of the answers. */
  readonly shelf: Shelf;
  readonly #versions: Versions;
  readonly #trust: Trust;
  readonly #flights = new Map<string, Flight<Kept>>();
  readonly #closing = new AbortController();
  readonly #reading = new Slices(bytesPerTurn);
  #confirming: Flight<Kept> | undefined;
  #cacheHitCount = 0;

  constructor(source: Source, options: UpstreamOptions) {
    this.#source = source;
    this.#options = options;
    this.#exchange = new Exchange(source, options);
    const keyHash = createHash('sha256').update(`${options.baseUrl}\n${options.key}`).digest('base64url');
    this.#kept = options.cache.part(`${source} ${keyHash}`);
    this.shelf = createShelf(options.cache.part(`shelf ${source} ${keyHash}`), options.clock);
    this.#versions = new Versions(this.#kept);
    this.#trust = new Trust(options.keyOwner, this.#exchange.condition, options.clock);
  }

  /**
   * The steps of one read: what is kept, if it will do; what is in flight already; breaker, allowance and HTTP
   * (`Exchange`); decoding; keeping. Null where upstream says that the resource is not there.
   */
  async read<T>(request: ReadRequest<T>, scope: ReadScope): Promise<Read<T> | null> {
    scope.signal.throwIfAborted();
    const id = address(request.path, request.parameters);
    if (this.#confirming && !this.#trust.holds && this.#kept.get(id))
      await this.#confirmed(this.#confirming, scope);
    const kept = this.#kept.get(id);
    const use = kept ? this.#useOf(kept, request, scope) : 'none';
    if (kept && use === 'serve') return this.#hit<T>(kept, scope, 'cacheHits');
    if (kept && use === 'serve and refresh') {
      this.#refreshBehind(id, request);
      return this.#hit<T>(kept, scope, 'staleHits');
    }
    try {
      return await this.#joinOrFly(id, request, scope);
    } catch (error) {
      // Unless it was to be forgotten meanwhile.
      const still = kept !== undefined && this.#kept.get(id) === kept;
      if (still && use === 'rescue' && canBeRescued(error) && this.#trust.outlasts(error)) {
        return this.#hit<T>(kept, scope, 'staleHits');
      }
      throw error;
    }
  }

  /** A body as it arrives: neither kept nor shared, but under the same allowance. Null where it is not there. */
  async stream(request: Request, scope: ReadScope): Promise<Readable | null> {
    scope.signal.throwIfAborted();
    const control = ownControl(scope);
    const id = address(request.path, request.parameters);
    try {
      const stream = await this.#exchange.ask(id, request, control, scope.meter, {
        send: (http) => this.#options.http.stream(http),
        open: (answer, heldS) =>
          'stream' in answer ? this.#streamOf(answer, request) : this.#bodyOf(answer, request, heldS),
      });
      return stream === notFound ? null : (stream as Readable);
    } catch (error) {
      this.#forgetRefused(error);
      throw error;
    } finally {
      scope.meter.waitedMs = Math.max(scope.meter.waitedMs, control.waitedMs);
    }
  }

  status(): UpstreamStatus {
    const { condition, gate, breaker, requestCount } = this.#exchange;
    return {
      source: this.#source,
      reachable: condition.reachable,
      lastErrorCode: condition.lastErrorCode,
      lastErrorAtMs: condition.lastErrorAtMs,
      requestCount,
      cacheHitCount: this.#cacheHitCount,
      leftAloneUntilMs: breaker.retryAtMs,
      ...gate.status(),
    };
  }

  /** What others keep of the answers is under the same rule as what is kept here. */
  get mayShowKept(): boolean {
    return this.#trust.holds || this.#trust.outlasts(null);
  }

  discardCache(): void {
    // Those on their way land for those who wait for them already, and for nobody else.
    this.#flights.clear();
    this.#kept.clear();
    this.shelf.clear();
  }

  close(): void {
    this.#closing.abort(new Error('The client of this interface is closed'));
    this.discardCache();
  }

  /**
   * Where a key has to be accepted anew before what is kept may be shown, one read that asks upstream is enough for all:
   * the others wait for it, and then see for themselves.
   */
  async #confirmed(confirming: Flight<Kept>, scope: ReadScope): Promise<void> {
    await confirming.join(scope, () => this.#options.clock.now()).catch(() => undefined);
    scope.signal.throwIfAborted();
  }

  #useOf<T>(kept: Kept, { kind, listedAs }: ReadRequest<T>, { maxAgeMs }: ReadScope): Use {
    const seen = this.#seen(listedAs);
    const use = useOf(kept, kind, { maxAgeMs, seen, nowMs: this.#options.clock.now() });
    return use === 'none' || this.#trust.holds ? use : 'rescue';
  }

  #seen(listedAs: string | undefined): Seen | undefined {
    return listedAs === undefined ? undefined : this.#versions.seen(listedAs);
  }

  async #joinOrFly<T>(id: string, request: ReadRequest<T>, scope: ReadScope): Promise<Read<T> | null> {
    const inFlight = this.#flights.get(id);
    const joined = inFlight !== undefined && !inFlight.abandoned;
    const flight = joined ? inFlight : this.#fly(id, request, scope);
    const kept = await flight.join(scope, () => this.#options.clock.now());
    if (joined) this.#countHit(scope, 'cacheHits');
    return readOf<T>(kept);
  }

  #fly<T>(id: string, request: ReadRequest<T>, scope: ReadScope): Flight<Kept> {
    const isCurrent = () => this.#flights.get(id) === flight;
    const flight: Flight<Kept> = new Flight(scope, async (control) => {
      // As of before it is asked for: the answer is of this version or a later one.
      const version = this.#seen(request.listedAs)?.version ?? null;
      try {
        const value = await this.#exchange.ask(id, request, control, scope.meter, {
          send: async (http) => {
            const answer = await this.#options.http.get(http);
            await this.#reading.take(answer.body.length, scope.turn);
            return answer;
          },
          open: (answer, heldS) => {
            const body = this.#bodyOf(answer, request, heldS);
            noteRequestId(scope.meter, requestIdOf(answer.headers, body, this.#options.key));
            return this.#decode(request, body);
          },
        });
        const kept = this.#keep(request, value, version);
        if (isCurrent()) this.#kept.set(id, kept);
        return kept;
      } catch (error) {
        if (isCurrent() && isDefinite(error)) this.#kept.delete(id);
        if (error instanceof GatewayError) noteRequestId(scope.meter, error.upstream?.requestId);
        this.#forgetRefused(error);
        throw error;
      } finally {
        if (isCurrent()) this.#flights.delete(id);
        if (this.#confirming === flight) this.#confirming = undefined;
      }
    });
    this.#flights.set(id, flight);
    if (!this.#trust.holds) this.#confirming ??= flight;
    return flight;
  }

  #refreshBehind<T>(id: string, request: ReadRequest<T>): void {
    if (this.#flights.has(id)) return;
    const { signal } = this.#closing;
    // Refreshes are one operation among themselves. When one fails, the next who asks tries again.
    const scope: ReadScope = { signal, priority: 'background', turn: this.#flights, meter: newCostMeter() };
    this.#joinOrFly(id, request, scope).catch(() => undefined);
  }

  #bodyOf(answer: HttpAnswer, { endpoint, list, arguments: parameters }: Request, heldS?: number): unknown {
    const asked = { source: this.#source, endpoint, list, parameters };
    return readAnswer(answer, asked, { text: this.#options.key, owner: this.#options.keyOwner }, heldS);
  }

  #streamOf({ status, headers, stream }: HttpStream, { endpoint }: Request): Readable | typeof notFound {
    const type = headers['content-type'] ?? '';
    if (status === 200 && !/^\s*(text\/html|application\/json)/i.test(type)) return stream;
    stream.destroy();
    if (status === 204) return notFound;
    throw badBody({ source: this.#source, endpoint }, 'text where data was asked for');
  }

  #decode<T>({ endpoint, decode }: ReadRequest<T>, body: unknown): T | typeof notFound {
    if (body === notFound) return notFound;
    const source = this.#source;
    return decode(body, {
      source,
      endpoint,
      dropped: (dropped, received) =>
        this.#options.log.warn(
          { source, endpoint, dropped, received },
          'Elements that are not what the interface describes were left out',
        ),
    });
  }

  #keep<T>(request: ReadRequest<T>, value: T | typeof notFound, version: string | null): Kept {
    const readAtMs = this.#options.clock.now();
    if (value === notFound)
      return { value: null, absent: true, readAtMs, final: false, version: null, bytes: 0 };
    const bytes = freezeAndMeasure(value);
    for (const [listedAs, shown] of request.lists?.(value) ?? [])
      this.#versions.saw(listedAs, shown, readAtMs);
    return {
      value,
      absent: false,
      readAtMs,
      final: request.isFinal?.(value, readAtMs) ?? false,
      version,
      bytes,
    };
  }

  /** contract 7: a client's key that upstream refuses has nothing kept any more. */
  #forgetRefused(error: unknown): void {
    if (error instanceof Unauthenticated) this.discardCache();
  }

  #hit<T>(kept: Kept, scope: ReadScope, as: 'cacheHits' | 'staleHits'): Read<T> | null {
    this.#countHit(scope, as);
    const ageS = Math.max(0, this.#options.clock.now() - kept.readAtMs) / 1000;
    scope.meter.oldestAgeS = Math.max(scope.meter.oldestAgeS, ageS);
    return readOf<T>(kept);
  }

  #countHit({ meter }: ReadScope, as: 'cacheHits' | 'staleHits'): void {
    meter[as]++;
    this.#cacheHitCount++;
  }
}

function readOf<T>(kept: Kept): Read<T> | null {
  return kept.absent ? null : { value: kept.value as T, readAtMs: kept.readAtMs };
}

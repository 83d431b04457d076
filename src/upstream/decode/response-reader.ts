import type { Readable } from 'node:stream';
import type { Source } from '../../errors.js';
import type { SharedBody } from '../../store/store.js';
import { freezeAndMeasure } from '../cache/freeze.js';
import type { CachedResponse } from '../cache/response-cache.js';
import type { Versions } from '../cache/validators.js';
import type { HttpResponse, HttpStream } from '../http/http.js';
import type { ReadRequest, Request, UpstreamOptions } from '../read/request.js';
import { Slices } from '../slices.js';
import { badBody, notFound, readResponse } from './response.js';

// Of answers, read in one turn of the event loop: the largest of many that arrive together takes long enough by itself.
const bytesPerTurn = 128 * 1024;

type Context = Pick<UpstreamOptions, 'key' | 'keyOwner' | 'log'>;

/** From what upstream sent, to this instance or to another, to what is kept of it. */
export class ResponseReader {
  readonly #source: Source;
  readonly #context: Context;
  readonly #versions: Versions;
  readonly #slices = new Slices(bytesPerTurn);

  constructor(source: Source, context: Context, versions: Versions) {
    this.#source = source;
    this.#context = context;
    this.#versions = versions;
  }

  /** Waits until a body of so many bytes can be read without holding up the rest. */
  turn(bytes: number, turn: object): Promise<void> | null {
    return this.#slices.take(bytes, turn);
  }

  /** Its JSON, or `notFound`. Throws what docs/behaviour.md 4 has for the answer. */
  bodyOf(answer: HttpResponse, { endpoint, list, arguments: parameters }: Request, heldS?: number): unknown {
    const asked = { source: this.#source, endpoint, list, parameters };
    return readResponse(answer, asked, { text: this.#context.key, owner: this.#context.keyOwner }, heldS);
  }

  streamOf({ status, headers, stream }: HttpStream, { endpoint }: Request): Readable | typeof notFound {
    const type = headers['content-type'] ?? '';
    if (status === 200 && !/^\s*(text\/html|application\/json)/i.test(type)) return stream;
    stream.destroy();
    if (status === 204) return notFound;
    throw badBody({ source: this.#source, endpoint }, 'text where data was asked for');
  }

  read<T>(request: ReadRequest<T>, body: unknown, times: Times): CachedResponse {
    if (body === notFound) return absentAt(times);
    const value = this.#decode(request, body);
    const kept = keptOf(request, value, times);
    if (request.lists) this.#versions.saw(request.lists(value), times.readAtMs);
    return kept;
  }

  /** What another instance was sent. Null where this one cannot read it. */
  async adopt<T>(
    { body, readAtMs, askedAtMs, version }: SharedBody,
    request: ReadRequest<T>,
    turn: object,
  ): Promise<CachedResponse | null> {
    // Instances tell no order within a millisecond.
    const times = { readAtMs, askedAtMs: Math.floor(askedAtMs), version };
    if (body === null) return absentAt(times);
    await this.turn(body.length, turn);
    try {
      const value = this.#decode(request, this.bodyOf({ status: 200, headers: {}, body }, request));
      if (request.lists) this.#versions.saw(request.lists(value), readAtMs);
      return keptOf(request, value, {
        ...times,
        version: version ?? this.#versionAt(readAtMs, request.listedAs),
      });
    } catch {
      return null;
    }
  }

  #decode<T>({ endpoint, decode }: ReadRequest<T>, body: unknown): T {
    const source = this.#source;
    return decode(body, {
      source,
      endpoint,
      dropped: (dropped, received) =>
        this.#context.log.warn(
          { source, endpoint, dropped, received },
          'Elements that are not what the interface describes were left out',
        ),
    });
  }

  /** As it was known here when another instance read it. */
  #versionAt(readAtMs: number, listedAs: string | undefined): string | null {
    const seen = listedAs === undefined ? undefined : this.#versions.seen(listedAs);
    return seen && seen.atMs <= readAtMs ? seen.version : null;
  }
}

/** `version`: as a list showed the resource before it was asked for. */
type Times = Pick<CachedResponse, 'readAtMs' | 'askedAtMs' | 'version'>;

function absentAt({ readAtMs, askedAtMs }: Times): CachedResponse {
  return { value: null, absent: true, readAtMs, askedAtMs, final: false, version: null, bytes: 0 };
}

function keptOf<T>(request: ReadRequest<T>, value: T, times: Times): CachedResponse {
  const bytes = freezeAndMeasure(value);
  const final = request.isFinal?.(value, times.readAtMs) ?? false;
  return { value, absent: false, ...times, final, bytes };
}

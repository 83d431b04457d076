import type { Readable } from 'node:stream';
import { type ForwardMs, floorTo } from '../../clock.js';
import type { Source } from '../../errors.js';
import { Slices } from '../../event-loop-slices.js';
import type { SharedBody } from '../../store/store.js';
import { freezeAndMeasure } from '../cache/freeze.js';
import type { CachedResponse } from '../cache/response-cache.js';
import type { Versions } from '../cache/validators.js';
import type { HttpResponse, HttpStream } from '../http/http.js';
import type { ReadRequest, Request, UpstreamOptions } from '../read/request.js';
import { badBody, isWhole, notFound, readResponse } from './response.js';

// Bytes of responses decoded in one event-loop slice: the largest of many that arrive together takes long enough by
// itself.
const bytesPerSlice = 128 * 1024;

type Context = Pick<UpstreamOptions, 'key' | 'keyOwner' | 'otherSecrets' | 'log' | 'clock'>;

/** Turns a response, sent to this instance or to another, into a cached response. */
export class ResponseReader {
  readonly #source: Source;
  readonly #context: Context;
  readonly #versions: Versions;
  readonly #slices = new Slices(bytesPerSlice);

  constructor(source: Source, context: Context, versions: Versions) {
    this.#source = source;
    this.#context = context;
    this.#versions = versions;
  }

  /** Waits for an event-loop slice in which a body of `bytes` can be decoded. */
  slice(bytes: number, operationKey: object): Promise<void> | null {
    return this.#slices.take(bytes, operationKey);
  }

  /** The request's key and every other secret of its tenant, as they are now. */
  secrets(): readonly string[] {
    const { key, otherSecrets } = this.#context;
    return [key, ...(otherSecrets?.() ?? [])];
  }

  /** The response's JSON, or `notFound`. Throws the error that docs/behaviour.md 4 lists for the response. */
  bodyOf(
    response: HttpResponse,
    { endpoint, list, arguments: parameters }: Request,
    pauseS?: number,
  ): unknown {
    const asked = { source: this.#source, endpoint, list, parameters };
    const { keyOwner } = this.#context;
    return readResponse(response, asked, { owner: keyOwner, secrets: this.secrets() }, pauseS);
  }

  streamOf({ status, headers, stream }: HttpStream, { endpoint }: Request): Readable | typeof notFound {
    const type = headers['content-type'] ?? '';
    const isText = /^\s*(text\/html|application\/json)/i.test(type);
    if (isWhole(status) && !isText) return stream;
    stream.destroy();
    // FDSN web services answer so where there is no data.
    if (status === 204) return notFound;
    const what = isWhole(status) ? 'text where data was asked for' : `status ${status}`;
    throw badBody({ source: this.#source, endpoint }, what, status);
  }

  read<T>(request: ReadRequest<T>, body: unknown, times: Times): CachedResponse {
    if (body === notFound) return absentAt(times);
    const value = this.#decode(request, body);
    const cached = this.#cachedResponseOf(request, value, times);
    if (request.lists) this.#versions.saw(request.lists(value), times.readAtMs);
    return cached;
  }

  /** Decodes a response that another instance received. Null where this one cannot read it. */
  async adopt<T>(
    { body, readAtMs, askedAtMs, version }: SharedBody,
    request: ReadRequest<T>,
    operationKey: object,
  ): Promise<CachedResponse | null> {
    // Instances share no order within a millisecond.
    const times = { readAtMs, askedAtMs: floorTo(1, askedAtMs), version };
    if (body === null) return absentAt(times);
    await this.slice(body.length, operationKey);
    try {
      const value = this.#decode(request, this.bodyOf({ status: 200, headers: {}, body }, request));
      if (request.lists) this.#versions.saw(request.lists(value), readAtMs);
      return this.#cachedResponseOf(request, value, {
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

  #cachedResponseOf<T>(request: ReadRequest<T>, value: T, times: Times): CachedResponse {
    const bytes = freezeAndMeasure(value);
    const immutable = request.isImmutable?.(value, this.#context.clock.wallMs(times.readAtMs)) ?? false;
    return { value, absent: false, ...times, immutable, bytes };
  }

  /** The version that was known here when another instance read the resource. */
  #versionAt(readAtMs: ForwardMs, listedAs: string | undefined): string | null {
    const listed = listedAs === undefined ? undefined : this.#versions.listed(listedAs);
    return listed && listed.atMs <= readAtMs ? listed.version : null;
  }
}

/** `version`: the one that a list showed before the resource was requested. */
type Times = Pick<CachedResponse, 'readAtMs' | 'askedAtMs' | 'version'>;

function absentAt({ readAtMs, askedAtMs }: Times): CachedResponse {
  return { value: null, absent: true, readAtMs, askedAtMs, immutable: false, version: null, bytes: 0 };
}

import { hash } from 'node:crypto';
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

  read<T>(request: ReadRequest<T>, body: unknown, times: Times, digest: string): CachedResponse {
    if (body === notFound) return absentAt(times);
    const value = this.#decode(request, body);
    return this.#noted(request, value, { ...times, digest, bytes: freezeAndMeasure(value) });
  }

  /**
   * The response with the body of `known`, and its value: most responses are as the one before, and to decode their body
   * and derive all from it again would take longer than the rest of an answer.
   */
  again<T>(request: ReadRequest<T>, { value, digest, bytes }: CachedResponse, times: Times): CachedResponse {
    return this.#noted(request, value as T, { ...times, digest, bytes });
  }

  /** Decodes a response that another instance received. Null where this one cannot read it. */
  async adopt<T>(
    { body, readAtMs, askedAtMs, version }: SharedBody,
    request: ReadRequest<T>,
    operationKey: object,
    known: CachedResponse | undefined,
  ): Promise<CachedResponse | null> {
    // Instances share no order within a millisecond.
    const asked = { readAtMs, askedAtMs: floorTo(1, askedAtMs) };
    if (body === null) return absentAt(asked);
    await this.slice(body.length, operationKey);
    try {
      const digest = digestOf(body);
      const times = { ...asked, version: version ?? this.#versionAt(readAtMs, request.listedAs) };
      if (known?.digest === digest) return this.again(request, known, times);
      return this.read(request, this.bodyOf({ status: 200, headers: {}, body }, request), times, digest);
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

  #noted<T>(
    request: ReadRequest<T>,
    value: T,
    rest: Times & Pick<CachedResponse, 'digest' | 'bytes'>,
  ): CachedResponse {
    const { readAtMs } = rest;
    const immutable = request.isImmutable?.(value, this.#context.clock.wallMs(readAtMs)) ?? false;
    if (request.lists) this.#versions.saw(request.lists(value), readAtMs);
    return { value, absent: false, immutable, ...rest };
  }

  /** The version that was known here when another instance read the resource. */
  #versionAt(readAtMs: ForwardMs, listedAs: string | undefined): string | null {
    const listed = listedAs === undefined ? undefined : this.#versions.listed(listedAs);
    return listed && listed.atMs <= readAtMs ? listed.version : null;
  }
}

/** `version`: the one that a list showed before the resource was requested. */
type Times = Pick<CachedResponse, 'readAtMs' | 'askedAtMs' | 'version'>;

function absentAt({ readAtMs, askedAtMs }: Omit<Times, 'version'>): CachedResponse {
  const nothing = { value: null, absent: true, immutable: false, version: null, digest: null, bytes: 0 };
  return { ...nothing, readAtMs, askedAtMs };
}

/** Identifies a body. */
export const digestOf = (body: Buffer): string => hash('sha256', body, 'base64url');

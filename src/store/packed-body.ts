import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';
import type { SharedMs, SharedTime } from './shared-time.js';
import type { SharedBody } from './store.js';

// A larger body would block the store for all instances, and is rare since lists are paged.
export const mostBodyBytes = 4 * 1024 * 1024;
// JSON shrinks to a tenth; a shorter body gains little.
const compressedFromBytes = 1_024;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Header line before a body. */
interface Head {
  readonly readAtMs: SharedMs;
  readonly askedAtMs: SharedMs;
  readonly version: string | null;
  readonly isAbsent: boolean;
  readonly isDeflated: boolean;
}

/** Encodes a body and its metadata for other instances. */
export async function packBody(
  { body, readAtMs, askedAtMs, version }: SharedBody,
  time: Pick<SharedTime, 'toShared'>,
): Promise<Buffer> {
  const isDeflated = body !== null && body.length >= compressedFromBytes;
  const head: Head = {
    readAtMs: time.toShared(readAtMs),
    askedAtMs: time.toShared(askedAtMs),
    version,
    isAbsent: body === null,
    isDeflated,
  };
  const rest = isDeflated ? await deflate(body, { level: constants.Z_BEST_SPEED }) : (body ?? '');
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), Buffer.from(rest)]);
}

/** Rejects for anything that `packBody` has not made. */
export async function unpackBody(packed: Buffer, time: Pick<SharedTime, 'toLocal'>): Promise<SharedBody> {
  const headEnd = packed.indexOf('\n');
  const head: Head = JSON.parse(packed.toString('utf8', 0, headEnd));
  const rest = packed.subarray(headEnd + 1);
  return {
    body: head.isAbsent
      ? null
      : head.isDeflated
        ? await inflate(rest, { maxOutputLength: mostBodyBytes })
        : rest,
    readAtMs: time.toLocal(head.readAtMs),
    askedAtMs: time.toLocal(head.askedAtMs),
    version: head.version,
  };
}

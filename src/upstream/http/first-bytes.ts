import type { Readable } from 'node:stream';

/** Waits for the first bytes of a body, which can still be read; false where it ends without any. */
export async function hasBytes(body: Readable): Promise<boolean> {
  if (body.readableLength === 0) {
    // 'readable' does not come for a body that is empty.
    await new Promise<void>((resolve, reject) => {
      body.once('readable', resolve).once('end', resolve).once('close', resolve).once('error', reject);
    });
  }
  return body.readableLength > 0;
}

import { realClock } from '../../src/clock.js';
import type { SharedBodies, SharedBody } from '../../src/store/store.js';

const usualId = '/v1/sensors?limit=500';
const query = 0;

export const bodyOf = (text: string, readAtMs = realClock.now()): SharedBody => ({
  body: Buffer.from(text),
  readAtMs,
  askedAtMs: readAtMs,
  version: null,
});

/** As another instance sees it; asks for nothing. */
export async function seen(bodies: SharedBodies, id = usualId): Promise<SharedBody | null> {
  const place = await bodies.open(id, query);
  place.release();
  return place.cached;
}

export async function write(bodies: SharedBodies, body: SharedBody, id = usualId): Promise<void> {
  const place = await bodies.open(id, query);
  place.write(body);
  place.release();
}

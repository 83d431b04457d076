import { aCatalogueEvent, anEvent } from '../src/sandbox/builders.js';
import { emptyWorld, type World } from '../src/sandbox/world.js';

/**
 * Earthquakes as they come: at random times, a tenth as many for each magnitude more; nine of ten known to both interfaces,
 * with solutions that differ a little. One in fifty has been issued again within a month.
 */
export function denseWorld(count: number, everyS: number): { world: World; newestMs: number } {
  const world = emptyWorld();
  const random = generator(7);
  const newestMs = Date.now() - 60_000;
  let originMs = newestMs;
  for (let number = count; number > 0; number--) {
    const latitude = 32 + random() * 6;
    const longitude = -122 + random() * 8;
    const magnitude = round(0.5 - Math.log10(1 - random()), 2);
    const known = random();
    if (known < 0.95)
      world.project.events.push(projectEvent(number, originMs, { latitude, longitude, magnitude }));
    if (known >= 0.05)
      world.catalogue.events.push(catalogueEvent(number, originMs, { latitude, longitude, magnitude }));
    originMs -= -Math.log(1 - random()) * everyS * 1000;
  }
  return { world, newestMs };

  function projectEvent(number: number, ms: number, quake: Quake) {
    const againMs = random() < 0.02 ? ms + random() * 30 * 86_400_000 : Number.POSITIVE_INFINITY;
    const firstMs = Math.min(newestMs + 60_000, ms + (20 + random() * 100) * 1000);
    const issuedMs = againMs < newestMs ? againMs : firstMs;
    const { latitude, longitude, magnitude } = quake;
    const issued_at = new Date(issuedMs).toISOString();
    const origin = {
      id: number,
      latitude,
      longitude,
      depth: 8.5,
      origin_time: ms / 1000,
      issued_at: issuedMs / 1000,
    };
    return anEvent({ id: `evt-${number}`, issued_at, magnitude, origin, origins: [] });
  }

  function catalogueEvent(number: number, ms: number, quake: Quake) {
    return aCatalogueEvent({
      id: `cat-${number}`,
      origin_time: new Date(ms + (random() - 0.5) * 1000).toISOString(),
      latitude: quake.latitude + (random() - 0.5) * 0.05,
      longitude: quake.longitude + (random() - 0.5) * 0.05,
      magnitude: round(quake.magnitude + (random() - 0.5) * 0.3, 2),
    });
  }
}

interface Quake {
  readonly latitude: number;
  readonly longitude: number;
  readonly magnitude: number;
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

// Mulberry32: the same world each time.
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

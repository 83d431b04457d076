import type { Source } from '../operations/operations.js';
import { pause } from './pause.js';
import type { World } from './world.js';

const lookEveryMs = 2_000;

/**
 * Resolves when the interface has as many requests to spend as are to be left for lists and feeds, which come first; at once
 * for an interface that the gateway has no rate limit of. Ends early where the signal aborts.
 */
export async function untilAffordable(
  world: World,
  source: Source,
  toBeLeft: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const known = world.state().gateway?.interfaces.find((one) => one.source === source);
    if (known && (known.rateLimit?.remaining ?? Infinity) > toBeLeft) return;
    await pause(lookEveryMs, signal);
  }
}

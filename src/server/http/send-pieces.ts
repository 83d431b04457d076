import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.js';

// A client that takes nothing for so long has gone, and with it goes what was kept for it.
const stalledMs = 60_000;

/** Sends what is long piece by piece, as fast as the client takes it, and everyone else is answered between two. */
export async function sendPieces(
  pieces: Iterable<string | Buffer>,
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response, clock);
    // A socket that takes all at once has room again before anything else had its turn.
    await nextTurn();
  }
  response.end();
}

/** Resolves when there is room again, or nobody left to write to. */
function drained(response: ServerResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stalled = clock.timer(stalledMs, () => response.destroy());
    const done = () => {
      stalled.cancel();
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

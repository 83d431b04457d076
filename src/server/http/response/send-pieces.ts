import type { ServerResponse } from 'node:http';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { type Clock, minuteMs } from '../../../clock.js';

// A client that reads nothing for this long is disconnected, to free the memory of its unsent data.
const stalledMs = minuteMs;

/** Sends pieces no faster than the client reads, and lets the event loop serve other clients between two pieces. */
export async function sendPieces(
  pieces: Iterable<string | Buffer>,
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  await writePieces(pieces, response, clock);
  response.end();
}

/** Sends the pieces without ending the response. */
export async function writePieces(
  pieces: Iterable<string | Buffer>,
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response, clock);
    // A fast socket drains at once: without this the loop would never give way.
    await nextIteration();
  }
}

/** Resolves when the response accepts more data, or has closed. */
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

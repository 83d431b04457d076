import type { Clock, Timer } from '../../../clock.js';
import { Unauthenticated } from '../../../errors.js';
import type { Exchange } from '../exchange.js';

// A client that does not read cannot hold its stream for longer once its access has ended.
const lastEventMs = 5_000;

/** Ends a stream when the access that it was opened with ends: with an error, so that clients do not just reconnect. */
export function endWithAccess({ response, operation }: Exchange, clock: Clock): void {
  let cut: Timer | null = null;
  const stop = operation.client.whenEnded(() => {
    operation.abandon(new Unauthenticated('The access that this operation was begun with has ended'));
    cut ??= clock.timer(lastEventMs, () => response.destroy());
  });
  response.once('close', () => {
    stop();
    cut?.cancel();
  });
}

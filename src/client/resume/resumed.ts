import type { FormattedExecutionResult } from 'graphql';
import { answerOf } from '../answer.js';
import type { Open } from '../connection/event-stream.js';
import { GraphError } from '../errors.js';
import { BackOff } from './back-off.js';
import type { Resumable } from './resumable.js';

/** One change, with its cursor; it is the next one behind the cursor `after`. */
export interface Change {
  readonly after: string | null;
  readonly cursor: string;
  readonly result: FormattedExecutionResult;
}

/**
 * The changes behind a cursor, each once, over as many connections as it takes. Ends when the signal aborts; throws
 * `GraphError` where another attempt would fail as well.
 * @param onConnection called with true when there is a connection, with false when it is lost
 */
export async function* resumed(
  subscription: Resumable,
  open: Open,
  from: string | null,
  signal: AbortSignal,
  onConnection: (isConnected: boolean) => void = () => {},
): AsyncGenerator<Change> {
  const backOff = new BackOff();
  let at = from;
  while (!signal.aborted) {
    let leastS: number | null = null;
    try {
      for await (const result of open(subscription.behind(at), signal, () => onConnection(true))) {
        answerOf(result);
        const cursor = subscription.cursorOf(result);
        if (cursor === null) throw new GraphError({ message: 'A change came without its cursor' });
        const after = at;
        at = cursor;
        backOff.reset();
        yield { after, cursor, result };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof GraphError) || !error.isPassing) throw error;
      leastS = error.retryAfterS;
    } finally {
      onConnection(false);
    }
    // A feed has no end of its own: what ended was the connection.
    await backOff.pause(leastS, signal);
  }
}

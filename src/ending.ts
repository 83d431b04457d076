import type { Log } from './log.js';

export interface EndingOptions {
  readonly log: Log;
  /** Finishes what is in flight. */
  close(): Promise<void>;
  /** The process ends in any case now. */
  atEnd?(): void;
}

/**
 * From now on the process ends in order at a signal, or at a fault that nobody foresaw: what is in flight is finished, and
 * something else starts the process afresh. The returned function does the same without a signal.
 */
export function endInOrder({ log, close, atEnd = () => {} }: EndingOptions): (code: number) => void {
  let isLeaving = false;

  function exit(code: number): void {
    atEnd();
    process.exit(code);
  }

  async function leave(code: number): Promise<void> {
    isLeaving = true;
    await close().catch((error) => log.error({ error: String(error) }, 'Closing failed'));
    exit(code);
  }

  /** Asked twice: whoever asks does not want to wait. */
  const leaveOrExit = (code: number) => (isLeaving ? exit(code) : void leave(code));

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'Leaving');
      leaveOrExit(0);
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (fault: unknown) => {
      const text = fault instanceof Error ? fault.stack : String(fault);
      log.error({ event, fault: text }, 'Uncaught fault: leaving');
      leaveOrExit(1);
    });
  }
  return (code) => {
    if (!isLeaving) void leave(code);
  };
}

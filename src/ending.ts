import type { Log } from './log.js';

export interface EndingOptions {
  readonly log: Log;
  /** Completes the requests in flight. */
  close(): Promise<void>;
  /** Called immediately before the process exits, also when `close` failed or was cut short. */
  atEnd?(): void;
}

/**
 * Installs graceful shutdown on SIGTERM, SIGINT and uncaught faults: requests in flight are completed and the process
 * exits; restarting it is left to the supervisor. The returned function starts the same shutdown without a signal.
 */
export function endInOrder({ log, close, atEnd = () => {} }: EndingOptions): (code: number) => void {
  let isLeaving = false;

  function exit(code: number): void {
    try {
      atEnd();
    } finally {
      void log.output.flushed().finally(() => process.exit(code));
    }
  }

  async function leave(code: number): Promise<void> {
    isLeaving = true;
    await close().catch((error) => log.error({ error: textOf(error) }, 'Closing failed'));
    exit(code);
  }

  /** A second signal or fault exits at once, without waiting for requests in flight. */
  const leaveOrExit = (code: number) => (isLeaving ? exit(code) : void leave(code));

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'Leaving');
      leaveOrExit(0);
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (fault: unknown) => {
      log.error({ event, fault: textOf(fault) }, 'Uncaught fault: leaving');
      leaveOrExit(1);
    });
  }
  return (code) => {
    if (!isLeaving) void leave(code);
  };
}

/** Anything can be thrown, even what cannot be made a text: the handler of faults must not fail on it. */
function textOf(fault: unknown): string {
  try {
    return String((fault instanceof Error && fault.stack) || fault);
  } catch {
    return 'A value that cannot be shown';
  }
}

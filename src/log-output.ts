import { setTimeout as after } from 'node:timers/promises';
import sonicBoom, { type SonicBoom } from 'sonic-boom';

/** Where finished lines go. Writing never waits, throws or ends the process. */
export interface LogOutput {
  write(line: string): void;
  /** A human reads it. */
  readonly isTerminal: boolean;
  /** Lines that were lost because nothing took them. */
  droppedLines(): number;
  /** Resolves when the lines so far are written, or when nothing takes them for a second. */
  flushed(): Promise<void>;
}

// A pipe takes a write of PIPE_BUF bytes whole or not at all, so lines of several workers do not mix in it.
const pieceBytes = 4_096;
// Beyond this, lines are dropped: about 4,000 of them.
const mostWaitingBytes = 1_048_576;
const retryEveryMs = 1_000;
const flushWithinMs = 1_000;

export function standardOutput(): LogOutput {
  let stream: SonicBoom | null = null;
  let dropped = 0;

  function open(): SonicBoom {
    // Node makes a pipe or terminal non-blocking when it opens its own stream on it. Otherwise a write that nobody reads
    // would block a thread, which Node waits for when it exits.
    void process.stdout;
    // The periodic flush takes up writing again after an error, such as a full disk. It needs a minimum length.
    const stream = new sonicBoom.SonicBoom({
      fd: 1,
      sync: false,
      minLength: 1,
      maxWrite: pieceBytes,
      maxLength: mostWaitingBytes,
      periodicFlush: retryEveryMs,
    });
    stream.on('drop', () => {
      dropped++;
    });
    stream.on('error', () => {});
    return stream;
  }

  return {
    write(line) {
      stream ??= open();
      stream.write(line);
    },
    isTerminal: process.stdout.isTTY === true,
    droppedLines: () => dropped,
    async flushed() {
      const written = new Promise<void>((resolve) => {
        if (stream) stream.flush(() => resolve());
        else resolve();
      });
      await Promise.race([written, after(flushWithinMs)]);
    },
  };
}

/** Node's own streams emit an error where nobody reads any more or the disk is full, which would end the process. */
export function surviveWriteErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

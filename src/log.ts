import { pino } from 'pino';
import { type LogOutput, standardOutput } from './log-output.js';
import { scrubber } from './scrubber.js';

/** Writes one JSON line per call. Secrets are removed from every line before it is written. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  readonly output: Pick<LogOutput, 'write' | 'isTerminal' | 'droppedLines' | 'flushed'>;
}

export type LogFields = Readonly<Record<string, unknown>>;

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Keys and tokens of the configuration, which must never be written. */
  readonly secrets: readonly string[];
  /** Number of this worker, written on every line; left out for a single process. */
  readonly worker?: number;
  /** Receives each line; standard output when left out. */
  readonly write?: (line: string) => void;
}

export function createLog({ level, secrets, worker, write }: LogOptions): Log {
  const scrub = scrubber(secrets);
  const output = write
    ? { write, isTerminal: false, droppedLines: () => 0, flushed: async () => {} }
    : standardOutput();
  const logger = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The finished line is scrubbed, so that no serializer, message or cause can carry a secret past it.
      hooks: { streamWrite: (line) => withScrubbedTexts(line, scrub) },
    },
    output,
  );
  return Object.assign(logger, { output });
}

/**
 * Scrubs each text of a JSON line by itself, so that the line stays JSON whatever the secrets are. Names of fields, the
 * level and the time are the code's own: with a password `info` a line would have no level.
 */
function withScrubbedTexts(line: string, scrub: (text: string) => string): string {
  if (scrub(line) === line) return line;
  const [own = ''] = /^\{"level":"\w+","time":"[^"]*"/.exec(line) ?? [];
  const texts = line
    .slice(own.length)
    .replace(/"(?:[^"\\]|\\.)*":?/g, (literal) =>
      literal.endsWith(':') ? literal : JSON.stringify(scrub(JSON.parse(literal))),
    );
  return `${own}${texts}`;
}

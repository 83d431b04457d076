import { pino } from 'pino';
import { type LogOutput, standardOutput } from './log-output.js';

/** Writes one JSON line per call. Secrets are removed from every line before it is written. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  readonly output: Pick<LogOutput, 'droppedLines' | 'flushed'>;
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
  const output = write ? { write, droppedLines: () => 0, flushed: async () => {} } : standardOutput();
  const logger = pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The finished line is scrubbed, so that no serializer, message or cause can carry a secret past it.
      hooks: { streamWrite: scrub },
    },
    output,
  );
  return Object.assign(logger, { output });
}

// docs/interfaces.md P5: keys start with `svc_sk_`. Keys and tokens of clients are not known beforehand; they are
// recognised by their form.
const secretForms = [/svc_sk_[\w-]+/g, /\b(Bearer)\s+[\w.~+/=-]+/gi];

/** Replaces the known secrets in a text, and everything that has the form of a secret. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length > 0);
  return (text) => {
    let clean = text;
    for (const secret of known) {
      clean = clean.replaceAll(secret, '[secret]');
      // A secret can also appear escaped, inside a JSON string.
      clean = clean.replaceAll(JSON.stringify(secret).slice(1, -1), '[secret]');
    }
    for (const form of secretForms) clean = clean.replace(form, '[secret]');
    return clean;
  };
}

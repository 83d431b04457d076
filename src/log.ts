import { pino } from 'pino';

/** One JSON line each. Whatever is logged, no secret can reach the output. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Texts that must never be written: keys and tokens of the configuration. */
  readonly secrets: readonly string[];
  /** Of several workers, which one: every line says so. */
  readonly worker?: number;
  /** Takes each line; standard output when left out. */
  readonly write?: (line: string) => void;
}

export function createLog({ level, secrets, worker, write }: LogOptions): Log {
  const scrub = scrubber(secrets);
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The finished line is scrubbed, so that no serializer, message or cause can carry a secret past it.
      hooks: { streamWrite: scrub },
    },
    write ? { write } : pino.destination({ fd: 1, sync: true }),
  );
}

// docs/interfaces.md P5: keys start with `svc_sk_`. Clients' keys and tokens are not known beforehand, but their form is.
const secretForms = [/svc_sk_[\w-]+/g, /\b(Bearer)\s+[\w.~+/=-]+/gi];

/** Replaces every secret in a text, known ones and those that have a secret's form. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length > 0);
  return (text) => {
    let clean = text;
    for (const secret of known) {
      clean = clean.replaceAll(secret, '[secret]');
      // As it stands inside a JSON string.
      clean = clean.replaceAll(JSON.stringify(secret).slice(1, -1), '[secret]');
    }
    for (const form of secretForms) clean = clean.replace(form, '[secret]');
    return clean;
  };
}

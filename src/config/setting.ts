/** One setting; the table of them is `settings.ts`. */
export interface Setting<T> {
  readonly meaning: string;
  /** Throws an Error with a message that follows the variable's name: "must be …". */
  readonly parse: (value: string) => T;
  readonly fallback: T;
  readonly shownDefault: string;
  /** Can also be read from the file that `NAME_FILE` names, and is never printed. */
  readonly isSecret: boolean;
  /** Can also be given for traces alone, as `OTEL_EXPORTER_OTLP_TRACES_…`, which wins. */
  readonly isPerSignal: boolean;
  /** Can also be given in lower case, which wins, as other programs read it. */
  readonly inLowerCaseToo: boolean;
}

/** The variables that give a setting. The last one that is set wins. */
export function variablesOf(
  name: string,
  {
    isSecret,
    isPerSignal,
    inLowerCaseToo,
  }: Pick<Setting<unknown>, 'isSecret' | 'isPerSignal' | 'inLowerCaseToo'>,
): readonly string[] {
  return [
    name,
    ...(inLowerCaseToo ? [name.toLowerCase()] : []),
    ...(isPerSignal ? [name.replace('_OTLP_', '_OTLP_TRACES_')] : []),
    ...(isSecret ? [`${name}_FILE`] : []),
  ];
}

export function setting<T, F extends T | null>(
  meaning: string,
  parse: (value: string) => T,
  fallback: F,
  shownDefault = fallback === null ? '–' : String(fallback),
): Setting<T | F> {
  return {
    meaning,
    parse,
    fallback,
    shownDefault,
    isSecret: false,
    isPerSignal: false,
    inLowerCaseToo: false,
  };
}

export function perSignal<T, F extends T | null>(
  meaning: string,
  parse: (value: string) => T,
  fallback: F,
): Setting<T | F> {
  return { ...setting(meaning, parse, fallback), isPerSignal: true };
}

export function secret<T>(meaning: string, parse: (value: string) => T): Setting<T | null> {
  return { ...setting(meaning, parse, null), isSecret: true };
}

export function inLowerCaseToo<T>(one: Setting<T>): Setting<T> {
  return { ...one, inLowerCaseToo: true };
}

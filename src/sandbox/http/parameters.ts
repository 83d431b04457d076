import { instantOf, isPlainDate, isUtc, textOf } from '../time.js';

/** The query of one request, read strictly: whatever is not a documented value is a ParameterError. */
export class Parameters {
  readonly #search: URLSearchParams;

  // Assumed: a parameter that the endpoint does not have, is given twice or is empty is refused; neither spec says.
  constructor(search: URLSearchParams, allowed: readonly string[]) {
    const given = new Set<string>();
    for (const [name, value] of search) {
      if (!allowed.includes(name)) throw new ParameterError(name, 'is not a parameter of this endpoint');
      if (given.has(name)) throw new ParameterError(name, 'is given twice');
      if (value === '') throw new ParameterError(name, 'is empty');
      given.add(name);
    }
    this.#search = search;
  }

  text(name: string): string | undefined {
    return this.#search.get(name) ?? undefined;
  }

  integer(name: string, range: { min: number; max: number; fallback: number }): number {
    const text = this.text(name);
    if (text === undefined) return range.fallback;
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= range.min && value <= range.max)) {
      throw new ParameterError(name, `must be an integer from ${range.min} to ${range.max}`);
    }
    return value;
  }

  number(name: string, range: { min?: number; max?: number } = {}): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    return numberIn(name, text, range);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = values.find((candidate) => candidate === text);
    if (value === undefined) throw new ParameterError(name, `must be one of ${values.join(', ')}`);
    return value;
  }

  /** docs/interfaces.md P4.1: RFC 3339 UTC, or a plain date meaning midnight UTC. */
  utcTimeOrDate(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = instantOf(text);
    if (ms === undefined || !(isPlainDate(text) || isUtc(text))) {
      throw new ParameterError(
        name,
        `must be an RFC 3339 time in UTC or a date, for example ${textOf(0, 0)}`,
      );
    }
    return ms;
  }

  // Assumed: docs/interfaces.md C4 says ISO 8601 and shows times in UTC; a date alone or a time without zone is refused.
  isoTime(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = instantOf(text);
    if (ms === undefined || isPlainDate(text)) {
      throw new ParameterError(name, `must be an ISO 8601 time with its zone, for example ${textOf(0, 0)}`);
    }
    return ms;
  }
}

/** A parameter is wrong, or (`range`) two of them contradict each other. The message names it. */
export class ParameterError extends Error {
  readonly parameter: string;
  readonly kind: 'parameter' | 'range';

  constructor(parameter: string, what: string, kind: 'parameter' | 'range' = 'parameter') {
    super(`${parameter} ${what}`);
    this.parameter = parameter;
    this.kind = kind;
  }
}

export function numberIn(name: string, text: string, range: { min?: number; max?: number } = {}): number {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = range;
  const value = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(Number.isFinite(value) && value >= min && value <= max)) {
    const bounds = Number.isFinite(min) || Number.isFinite(max) ? ` from ${min} to ${max}` : '';
    throw new ParameterError(name, `must be a number${bounds}`);
  }
  return value;
}

import { variablesOf } from './setting.js';
import { settings } from './settings.js';

/** A variable that nothing reads, and the setting that it resembles. */
export interface Misspelt {
  readonly variable: string;
  readonly setting: string;
}

// Shorter settings resemble ordinary variables: POST, HOME, PORTS.
const shortest = 7;
const farthest = 2;
// Variables of other programs, which many machines set beside HTTP_PROXY.
const others = /^ftp_proxy$/i;

/** Takes names only, never values: a value may be a key. */
export function misspelt(variables: readonly string[]): readonly Misspelt[] {
  const known = Object.entries(settings).flatMap(([name, setting]) => variablesOf(name, setting));
  return variables
    .filter((variable) => !known.includes(variable) && !others.test(variable))
    .flatMap((variable) => {
      const setting = known.find(
        (name) =>
          name.length >= shortest &&
          Math.abs(name.length - variable.length) <= farthest &&
          distance(name, variable.toUpperCase()) <= farthest,
      );
      return setting === undefined ? [] : { variable, setting };
    });
}

/** Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, letter] of [...from].entries()) {
    const next = [above + 1];
    for (const [left, other] of [...to].entries()) {
      const [diagonal = 0, up = 0] = row.slice(left, left + 2);
      next.push(Math.min((next[left] ?? 0) + 1, up + 1, diagonal + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

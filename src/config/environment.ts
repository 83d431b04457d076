import { readFileSync } from 'node:fs';
import { type Setting, variablesOf } from './setting.js';
import { type Settings, settings } from './settings.js';
import { tokenList } from './value-parsers.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Stops the start. The message is one line that names the variable and never holds a secret. */
export class ConfigError extends Error {
  readonly variable: string;

  constructor(variable: string, problem: string) {
    super(`${variable} ${problem}`);
    this.name = 'ConfigError';
    this.variable = variable;
  }
}

/** The values of all settings; throws `ConfigError`. */
export function readSettings(env: Environment): Settings {
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const { variable, value } = rawValue(name, setting, env);
    if (value === undefined) return [name, setting.fallback];
    // A value that was pasted over two lines would be another: a URL loses the break, and a token becomes two.
    if (/[\r\n]/.test(value) && variable !== 'GATEWAY_TOKENS_FILE')
      throw new ConfigError(variable, 'must be on one line');
    try {
      return [name, setting.parse(value)];
    } catch (problem) {
      throw new ConfigError(variable, problem instanceof Error ? problem.message : 'is wrong');
    }
  });
  return Object.fromEntries(entries) as Settings;
}

/** The tokens of GATEWAY_TOKENS_FILE as they are now; throws `ConfigError`. */
export function readTokenFile(file: string): readonly string[] {
  return tokenList(contentOf('GATEWAY_TOKENS_FILE', file));
}

// An empty variable counts as unset: compose files and CI write `NAME=` for that.
function rawValue(name: string, setting: Setting<unknown>, env: Environment) {
  const lowerCase = name.toLowerCase();
  const isLowerCase = setting.inLowerCaseToo && env[lowerCase] !== undefined;
  const given = variablesOf(name, setting).filter(
    (variable) => !(isLowerCase && variable === name) && env[variable]?.trim(),
  );
  const variable = given.at(-1) ?? name;
  const value = env[variable]?.trim() || undefined;
  if (variable !== `${name}_FILE` || value === undefined)
    return { variable, value: given.length > 0 ? value : undefined };
  if (given.length > 1) throw new ConfigError(variable, `and ${given[0]} are both set: set one`);
  return { variable, value: contentOf(variable, value) };
}

function contentOf(variable: string, file: string): string {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (problem) {
    const code = problem instanceof Error && 'code' in problem ? String(problem.code) : 'unknown reason';
    throw new ConfigError(variable, `names a file that cannot be read (${code})`);
  }
  if (content === '') throw new ConfigError(variable, 'names a file that is empty');
  return content;
}

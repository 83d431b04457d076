import { readFileSync } from 'node:fs';

/** The package's version. package.json is one folder above both `src` and `dist`. */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;

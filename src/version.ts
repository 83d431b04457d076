import { readFileSync } from 'node:fs';

/** The package's version; the file lies one step up from `src` as from `dist`. */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;

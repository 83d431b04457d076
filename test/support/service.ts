import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program of the machine's own that some tests need. */
export interface Service {
  /** Why tests that need it are left out; null where they run. REQUIRE_SERVICES=1 makes leaving out a failure. */
  readonly leftOut: string | null;
  /** The program's file; throws where there is none. */
  executable(): string;
}

/** @param names under which it can be on the PATH */
export function service(title: string, names: readonly string[]): Service {
  const file = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((candidate) => existsSync(candidate));
  const isNeeded = process.env.REQUIRE_SERVICES === '1';
  return {
    leftOut: file || isNeeded ? null : `SKIPPED: there is no ${title} on the PATH`,
    executable() {
      if (file) return file;
      throw new Error(`There is no ${title} on the PATH, and REQUIRE_SERVICES=1 asks for one`);
    },
  };
}

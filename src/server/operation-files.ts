import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A ready operation of `schema/operations/`: a tab of GraphiQL, and what PERSISTED_OPERATIONS lets clients name. */
export interface OperationFile {
  /** Its file name without `.graphql`. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly id: string;
}

// The same step up from `src/server` as from `dist/server` of the published package.
const folder = fileURLToPath(new URL('../../schema/operations/', import.meta.url));

/** In the order of their names. */
export function readOperationFiles(): readonly OperationFile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => {
      const text = readFileSync(`${folder}${file}`, 'utf8');
      return { name: file.slice(0, -'.graphql'.length), text, id: sha256(text) };
    });
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Kind, parse } from 'graphql';

/** An operation of `schema/operations/`: a GraphiQL tab, and a persisted operation under PERSISTED_OPERATIONS. */
export interface OperationFile {
  /** Its file name without `.graphql`. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly id: string;
}

// The same relative path from `src/server/execution` and from `dist/server/execution` of the published package.
const folder = fileURLToPath(new URL('../../../schema/operations/', import.meta.url));

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

/** Names of the operations in the files. */
export function operationNames(files: readonly OperationFile[]): ReadonlySet<string> {
  const names = files
    .flatMap(({ text }) => parse(text).definitions)
    .map((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? definition.name?.value : undefined,
    );
  return new Set(names.filter((name) => name !== undefined));
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

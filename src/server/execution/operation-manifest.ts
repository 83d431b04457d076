import { readFileSync } from 'node:fs';
import { type GraphQLError, parse } from 'graphql';
import { z } from 'zod';
import { ConfigError } from '../../config/environment.js';

/** An operation of a manifest: a client sends its id in place of its text. */
export interface ManifestOperation {
  readonly id: string;
  readonly text: string;
}

/** Relay's compiler and the client preset of codegen write one object from id to text. */
const textsById = z.record(z.string().min(1), z.string());

/** Apollo's generate-persisted-query-manifest. */
const apolloManifest = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.object({ id: z.string().min(1), body: z.string() })),
});

/** The operations of all manifests. @throws ConfigError that names the file and what is wrong with it */
export function readManifests(files: readonly string[]): readonly ManifestOperation[] {
  const byId = new Map<string, string>();
  for (const file of files) {
    for (const { id, text } of operationsOf(file)) {
      if ((byId.get(id) ?? text) !== text) throw wrong(file, `gives the id ${id} another text than before`);
      byId.set(id, text);
    }
  }
  return [...byId].map(([id, text]) => ({ id, text }));
}

function operationsOf(file: string): readonly ManifestOperation[] {
  const content = contentOf(file);
  const apollo = apolloManifest.safeParse(content);
  const byId = textsById.safeParse(content);
  if (!apollo.success && !byId.success)
    throw wrong(file, 'is neither an object from id to text nor a manifest of Apollo');
  const operations = apollo.success
    ? apollo.data.operations.map(({ id, body }) => ({ id, text: body }))
    : Object.entries(byId.data ?? {}).map(([id, text]) => ({ id, text }));
  for (const { id, text } of operations) {
    try {
      parse(text);
    } catch (error) {
      throw wrong(file, `has a text that is no GraphQL under ${id}: ${(error as GraphQLError).message}`);
    }
  }
  return operations;
}

function contentOf(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (problem) {
    const code = problem instanceof Error && 'code' in problem ? String(problem.code) : 'unknown reason';
    throw wrong(file, `cannot be read (${code})`);
  }
  try {
    // Editors on Windows put a byte order mark at the beginning.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw wrong(file, 'is not JSON');
  }
}

function wrong(file: string, what: string): ConfigError {
  return new ConfigError('PERSISTED_OPERATIONS_FILE', `names ${file}, which ${what}`);
}

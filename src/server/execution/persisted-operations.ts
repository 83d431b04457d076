import { GraphQLError, parse, print } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { type OperationFile, sha256 } from './operation-files.js';

/** Parameters that identify an operation, over HTTP or a WebSocket. */
export interface OperationParameters {
  readonly query?: unknown;
  /** `sha256:…` or the bare hash. */
  readonly documentId?: unknown;
  /** Automatic persisted queries: `{ persistedQuery: { version: 1, sha256Hash } }`. */
  readonly extensions?: unknown;
}

/** Resolves operation ids to texts. */
export interface PersistedOperations {
  /** The text to execute; undefined where the client sent neither text nor id. Throws a GraphQLError. */
  textFor(parameters: OperationParameters): string | undefined;
}

export interface PersistedOptions {
  readonly mode: 'off' | 'allow' | 'only';
  readonly files: readonly OperationFile[];
  readonly maxTokens: number;
}

// Bound of the texts that clients registered (automatic persisted queries); they are lost when the process ends.
const registeredMaxBytes = 4 * 1024 * 1024;

export function persistedOperations({ mode, files, maxTokens }: PersistedOptions): PersistedOperations {
  const known = new Map<string, string>();
  for (const { id, text } of files) {
    known.set(id, text);
    // Tools that extract operations from client code reformat them with `print` before hashing.
    known.set(sha256(print(parse(text))), text);
  }
  const registered = new LRUCache<string, string>({
    maxSize: registeredMaxBytes,
    sizeCalculation: (text) => 2 * text.length + 200,
  });

  function byId(id: string): string {
    const text = known.get(id) ?? (mode === 'allow' ? registered.get(id) : undefined);
    // Message and code of the automatic persisted queries protocol: the client sends the text next.
    if (text === undefined) throw refusal('PersistedQueryNotFound', 'PERSISTED_QUERY_NOT_FOUND', 404);
    return text;
  }

  function checked(query: string, id: string | null): string {
    if (mode === 'only') {
      if (known.has(sha256(query)) || known.has(sha256(printed(query, maxTokens)))) return query;
      throw refusal('Only persisted operations are answered here', 'PERSISTED_QUERY_ONLY', 403);
    }
    if (mode === 'allow' && id !== null) {
      if (sha256(query) !== id) throw refusal('The hash is not that of the query', 'BAD_REQUEST', 400);
      registered.set(id, query);
    }
    return query;
  }

  return {
    textFor(parameters) {
      const { query } = parameters;
      const id = idOf(parameters);
      if (typeof query === 'string' && query !== '') return checked(query, id);
      if (id === null) return undefined;
      if (mode === 'off') {
        throw refusal('PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED', 400);
      }
      return byId(id);
    },
  };
}

/** Replaces the id by the text before Yoga reads the query. */
export function persistedOperationsPlugin(persisted: PersistedOperations): Plugin {
  return {
    onParams({ params, setParams }) {
      const query = persisted.textFor(params);
      if (query !== undefined && query !== params.query) setParams({ ...params, query });
    },
  };
}

function idOf({ documentId, extensions }: OperationParameters): string | null {
  const id = documentId ?? sha256Hash(extensions);
  if (typeof id !== 'string') return null;
  const hash = id.replace(/^sha256:/, '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw refusal('The id is not a SHA-256 hash', 'BAD_REQUEST', 400);
  return hash;
}

function sha256Hash(extensions: unknown): unknown {
  if (!isRecord(extensions) || !isRecord(extensions.persistedQuery)) return undefined;
  return extensions.persistedQuery.sha256Hash;
}

// A text that cannot be parsed counts as unknown: in mode `only` its syntax error is not reported.
function printed(query: string, maxTokens: number): string {
  try {
    return print(parse(query, { maxTokens, noLocation: true }));
  } catch {
    return '';
  }
}

function refusal(message: string, code: string, status: number): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status, spec: true } } });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

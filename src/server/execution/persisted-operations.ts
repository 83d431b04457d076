import { type DocumentNode, GraphQLError, Kind, parse, print, visit } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { type OperationFile, sha256 } from './operation-files.js';
import type { ManifestOperation } from './operation-manifest.js';

/** Parameters that identify an operation, over HTTP or a WebSocket. */
export interface OperationParameters {
  readonly query?: unknown;
  /** An id of a manifest, `sha256:…` or the bare hash. */
  readonly documentId?: unknown;
  /** The same under the names that network layers of Relay use; without effect beside a text. */
  readonly id?: unknown;
  readonly doc_id?: unknown;
  /** Automatic persisted queries: `{ persistedQuery: { version: 1, sha256Hash } }`. */
  readonly extensions?: unknown;
}

/** Resolves operation ids to texts. */
export interface PersistedOperations {
  /** The text to execute; undefined where the client sent neither text nor id. Throws a GraphQLError. */
  textFor(parameters: OperationParameters): string | undefined;
  /** The operations by id, which are all that mode `only` permits; a new object after each `reload` that succeeded. */
  readonly known: object;
  /** Reads the manifests again; keeps what was known where one of them is wrong, and throws. */
  reload(): void;
}

export interface PersistedOptions {
  readonly mode: 'off' | 'allow' | 'only';
  readonly files: readonly OperationFile[];
  /** Reads PERSISTED_OPERATIONS_FILE; null without it. */
  readonly manifests?: (() => readonly ManifestOperation[]) | null;
  readonly maxTokens: number;
}

// Bound of the texts that clients registered (automatic persisted queries); they are lost when the process ends.
const registeredMaxBytes = 4 * 1024 * 1024;

export function persistedOperations(options: PersistedOptions): PersistedOperations {
  const { mode, maxTokens } = options;
  let known = knownOf(options);
  const registered = new LRUCache<string, string>({
    maxSize: registeredMaxBytes,
    sizeCalculation: (text) => 2 * text.length + 200,
  });

  function byId(id: string): string {
    const text = known.textById.get(id) ?? (mode === 'allow' ? registered.get(id) : undefined);
    if (text === undefined && !options.manifests && !isHash.test(id))
      throw refusal('The id is not a SHA-256 hash', 'BAD_REQUEST', 400);
    // Message and code of the automatic persisted queries protocol: the client sends the text next.
    if (text === undefined) throw refusal('PersistedQueryNotFound', 'PERSISTED_QUERY_NOT_FOUND', 404);
    return text;
  }

  function checked(query: string, id: string | null): string {
    if (mode === 'only') {
      if (known.textById.has(sha256(query)) || known.shapes.has(shapeOfText(query, maxTokens))) return query;
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
    reload() {
      known = knownOf(options);
    },
    get known() {
      return known;
    },
  };
}

function knownOf({ files, manifests }: PersistedOptions) {
  const textById = new Map<string, string>();
  const shapes = new Set<string>();
  for (const { id, text } of [...files, ...(manifests?.() ?? [])]) {
    const document = parse(text);
    textById.set(id.replace(/^sha256:/, ''), text);
    textById.set(sha256(text), text);
    // Tools that extract operations from client code reformat them with `print` before hashing.
    textById.set(sha256(print(document)), text);
    shapes.add(shapeOf(document));
  }
  return { textById, shapes };
}

/** The same for texts that are the same operation: tools sort an operation and its fragments before they register them. */
function shapeOf(document: DocumentNode): string {
  return withoutTypenames(document).definitions.map(print).sort().join('\n');
}

/** Clients add `__typename` to what is registered, and tools to what they register: it makes no other operation. */
function withoutTypenames(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet: (node) => {
      const selections = node.selections.filter(
        (selection) =>
          selection.kind !== Kind.FIELD || selection.name.value !== '__typename' || selection.alias,
      );
      return selections.length > 0 ? { ...node, selections } : undefined;
    },
  });
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

function idOf({ documentId, id, doc_id, query, extensions }: OperationParameters): string | null {
  const named = documentId ?? sha256Hash(extensions) ?? (query ? undefined : (id ?? doc_id));
  if (typeof named !== 'string') return null;
  const hash = named.replace(/^sha256:/i, '');
  return isHash.test(hash) ? hash.toLowerCase() : hash;
}

const isHash = /^[0-9a-f]{64}$/i;

function sha256Hash(extensions: unknown): unknown {
  if (!isRecord(extensions) || !isRecord(extensions.persistedQuery)) return undefined;
  return extensions.persistedQuery.sha256Hash;
}

// A text that cannot be parsed counts as unknown: in mode `only` its syntax error is not reported.
function shapeOfText(query: string, maxTokens: number): string {
  try {
    return shapeOf(parse(query, { maxTokens, noLocation: true }));
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

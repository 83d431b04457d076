import { GraphQLError } from 'graphql';

/** Well-formed parameters of GraphQL over HTTP, and `documentId`; one that is empty or null counts as left out. */
export interface Parameters {
  readonly query?: string | null;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly extensions?: Readonly<Record<string, unknown>> | null;
  readonly documentId?: unknown;
  readonly id?: unknown;
  readonly doc_id?: unknown;
}

/** Names under which clients send the id of an operation. */
export const idNames: readonly string[] = ['documentId', 'id', 'doc_id'];

/** Parameters of a POST body, not yet checked; throws a GraphQLError (400) where the body is not a JSON object. */
export function bodyParameters(body: string): object {
  let parameters: unknown;
  try {
    parameters = JSON.parse(body);
  } catch {
    throw malformed('POST body sent invalid JSON.');
  }
  if (Array.isArray(parameters)) return parameters;
  if (typeof parameters === 'object' && parameters !== null) return withoutEmpty(parameters);
  throw malformed('POST body is expected to be an object');
}

/**
 * Parameters of a query string (without its `?`); throws a GraphQLError (400) where its percent-encoding or JSON in it is
 * malformed. `URLSearchParams` would replace what cannot be decoded, and the operation would be another one.
 */
export function searchParameters(search: string): object {
  if (!isEncoded(search)) throw malformed('The query string has to be UTF-8, percent-encoded');
  const parameters = new URLSearchParams(search);
  const given: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', ...idNames]) {
    const value = parameters.get(name);
    if (value !== null) given[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = jsonIn(parameters, name);
    if (value !== undefined) given[name] = value;
  }
  return withoutEmpty(given);
}

/** Clients that build the request from a form send an empty text, or null, for a parameter without a value. */
export function withoutEmpty(parameters: object): object {
  const given = Object.entries(parameters).filter(([, value]) => value !== '' && value !== null);
  return Object.fromEntries(given);
}

/** True if Yoga would accept the parameters; malformed ones are left to Yoga to refuse. */
export function areWellFormed(parameters: object): parameters is Parameters {
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) continue;
    if (name === 'query' || name === 'operationName') {
      if (typeof value !== 'string') return false;
    } else if (name === 'variables' || name === 'extensions') {
      if (typeof value !== 'object' || Array.isArray(value)) return false;
    } else if (!idNames.includes(name)) return false;
  }
  return !Array.isArray(parameters);
}

function isEncoded(search: string): boolean {
  try {
    decodeURIComponent(search);
  } catch {
    return false;
  }
  // Node reads each byte that is sent without encoding as one character.
  return !/[^\x20-\x7e]/.test(search);
}

function jsonIn(parameters: URLSearchParams, name: string): unknown {
  const text = parameters.get(name);
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(`The parameter ${name} is not JSON`);
  }
}

function malformed(message: string): GraphQLError {
  return new GraphQLError(message, {
    extensions: { code: 'BAD_REQUEST', http: { status: 400, spec: true } },
  });
}

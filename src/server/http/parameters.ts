import { GraphQLError } from 'graphql';

/** Parameters of GraphQL over HTTP, and `documentId`, that are of the form that they must have. */
export interface Parameters {
  readonly query?: string | null;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly extensions?: Readonly<Record<string, unknown>> | null;
  readonly documentId?: unknown;
}

/** The parameters in the body of a POST, whatever their form; throws a GraphQLError (400) where it is no JSON object. */
export function bodyParameters(body: string): object {
  let parameters: unknown;
  try {
    parameters = JSON.parse(body);
  } catch {
    throw malformed('POST body sent invalid JSON.');
  }
  if (typeof parameters === 'object' && parameters !== null) return parameters;
  throw malformed('POST body is expected to be an object');
}

/** The parameters in the query of a GET (without its `?`); throws a GraphQLError (400) where JSON in them is malformed. */
export function searchParameters(search: string): object {
  const parameters = new URLSearchParams(search);
  const given: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) {
    const value = parameters.get(name);
    if (value !== null) given[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = jsonIn(parameters, name);
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** Whether Yoga would find nothing to refuse in them; what it refuses, and how, is left to it. */
export function areWellFormed(parameters: object): parameters is Parameters {
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) continue;
    if (name === 'query' || name === 'operationName') {
      if (typeof value !== 'string') return false;
    } else if (name === 'variables' || name === 'extensions') {
      if (typeof value !== 'object' || Array.isArray(value)) return false;
    } else if (name !== 'documentId') return false;
  }
  return !Array.isArray(parameters);
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

import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';

/** Parameters of a GET, with `documentId` beside those of GraphQL over HTTP; malformed JSON in them is a 400. */
export function getParameters(): Plugin {
  return {
    onRequestParse({ request, setRequestParser }) {
      if (request.method !== 'GET') return;
      setRequestParser(({ url }) => {
        const { searchParams } = new URL(url);
        const parameters = {
          query: searchParams.get('query') ?? undefined,
          operationName: searchParams.get('operationName') ?? undefined,
          variables: jsonOf('variables', searchParams),
          extensions: jsonOf('extensions', searchParams),
          documentId: searchParams.get('documentId') ?? undefined,
        };
        const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
        return Object.fromEntries(given) as GraphQLParams;
      });
    },
  };
}

function jsonOf(name: string, searchParams: URLSearchParams): unknown {
  const text = searchParams.get(name);
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new GraphQLError(`The parameter ${name} is not JSON`, {
      extensions: { code: 'BAD_REQUEST', http: { status: 400, spec: true } },
    });
  }
}

import { GraphQLError, NoSchemaIntrospectionCustomRule } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import { type ExecutionPart, withErrors } from '../../graph/incremental/results.js';

/** INTROSPECTION=false: refuses introspection, and removes "Did you mean" hints, which would reveal names. */
export function withoutIntrospection(): Plugin {
  return {
    onValidate({ addValidationRule }) {
      addValidationRule(NoSchemaIntrospectionCustomRule);
      return ({ result, setResult }) => {
        if (result.length > 0) setResult((result as readonly GraphQLError[]).map(withoutSuggestion));
      };
    },
    onExecute: () => ({
      onExecuteDone: (done) =>
        handleStreamOrSingleExecutionResult(done, ({ result, setResult }) =>
          setResult(
            withErrors(result as ExecutionPart, (errors) => errors.map((error) => withoutSuggestion(error))),
          ),
        ),
    }),
  };
}

function withoutSuggestion(error: GraphQLError): GraphQLError {
  const message = error.message.replace(/\s*Did you mean .*\?$/s, '');
  if (message === error.message) return error;
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: error.extensions,
  });
}

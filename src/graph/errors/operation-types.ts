import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Refuses an operation of a type that the graph does not have while validating: graphql-js does so only when it executes. */
export function knownOperationTypes(): Plugin {
  return { onValidate: ({ addValidationRule }) => addValidationRule(KnownOperationTypes) };
}

function KnownOperationTypes(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation)) return;
      context.reportError(
        new GraphQLError(
          `This graph has no ${node.operation}s: it is read by queries and subscriptions alone`,
          {
            nodes: node,
          },
        ),
      );
    },
  };
}

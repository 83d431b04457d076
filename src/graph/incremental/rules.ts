import {
  type ASTVisitor,
  GraphQLError,
  getNullableType,
  isListType,
  Kind,
  type ValidationContext,
} from 'graphql';
import { makesParts, streamDirective } from './directives.js';

/** Rules of the incremental delivery that graphql-js does not have yet. */
export const partsRules = [LabelRule, StreamOnListRule];

/** A client finds a part by its label, so that a label is no variable and is used once. */
function LabelRule(context: ValidationContext): ASTVisitor {
  const used = new Set<string>();
  return {
    Directive(node) {
      if (!makesParts(node)) return;
      const value = node.arguments?.find(({ name }) => name.value === 'label')?.value;
      if (!value || value.kind === Kind.NULL) return;
      if (value.kind !== Kind.STRING) {
        context.reportError(
          new GraphQLError(`The label of \`@${node.name.value}\` has to be a text of the document`, {
            nodes: node,
          }),
        );
      } else if (used.has(value.value)) {
        context.reportError(
          new GraphQLError(`The label "${value.value}" is used twice: each part needs its own`, {
            nodes: node,
          }),
        );
      } else {
        used.add(value.value);
      }
    },
  };
}

function StreamOnListRule(context: ValidationContext): ASTVisitor {
  return {
    Directive(node) {
      const field = context.getFieldDef();
      if (node.name.value !== streamDirective.name || !field || isListType(getNullableType(field.type)))
        return;
      context.reportError(
        new GraphQLError(`\`@stream\` is for lists, and the field \`${field.name}\` is none`, {
          nodes: node,
        }),
      );
    },
  };
}

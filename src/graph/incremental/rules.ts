import {
  type ArgumentNode,
  type ASTVisitor,
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  getNullableType,
  isListType,
  Kind,
  OverlappingFieldsCanBeMergedRule,
  type ValidationContext,
  validate,
  visit,
} from 'graphql';
import { makesParts, streamDirective } from './directives.js';

/** Rules of the incremental delivery that graphql-js does not have yet. */
export const partsRules = [LabelRule, StreamOnListRule, OneStreamRule];

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

/**
 * Fields of one name in the answer are one list, which is streamed in one way. The rule of graphql-js for overlapping fields
 * does not look at directives yet, so it is asked about the document with each `@stream` as one more argument of its field.
 */
function OneStreamRule(context: ValidationContext): ASTVisitor {
  const conflicts = (document: DocumentNode) =>
    validate(context.getSchema(), document, [OverlappingFieldsCanBeMergedRule]);
  return {
    Document(document) {
      const asArguments = withStreamsAsArguments(document);
      // Fields that conflict without `@stream` are reported by the rule of graphql-js.
      if (asArguments === document || conflicts(document).length > 0) return;
      for (const { message, nodes } of conflicts(asArguments)) {
        const text = message.replaceAll('differing arguments', 'differing stream directives');
        context.reportError(new GraphQLError(text, { nodes: nodes ?? null }));
      }
    },
  };
}

function withStreamsAsArguments(document: DocumentNode): DocumentNode {
  return visit(document, {
    Field: {
      leave(node) {
        const stream = node.directives?.find(({ name }) => name.value === streamDirective.name);
        return stream && { ...node, arguments: [...(node.arguments ?? []), asArgument(stream)] };
      },
    },
  });
}

function asArgument({ name, arguments: given = [] }: DirectiveNode): ArgumentNode {
  const fields = given.map((argument) => ({ ...argument, kind: Kind.OBJECT_FIELD as const }));
  // No argument can have this name.
  return {
    kind: Kind.ARGUMENT,
    name: { ...name, value: `@${name.value}` },
    value: { kind: Kind.OBJECT, fields },
  };
}

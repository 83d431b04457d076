import {
  type ArgumentNode,
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  Kind,
  type ValueNode,
  visit,
} from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import { type ExecutionPart, withErrors } from '../incremental/results.js';

/**
 * Values that graphql-js itself refuses (a bad date, a number in place of a text, two fields of a `@oneOf`) become
 * BAD_USER_INPUT with the argument's name (docs/behaviour.md 4), for literals and variables alike.
 */
export function inputErrors(): Plugin {
  return {
    onValidate({ params }) {
      return ({ result, setResult }) => {
        const document = params.documentAST;
        if (result.length > 0) setResult(result.map((error) => named(error, document)));
      };
    },
    onExecute({ args: { document } }) {
      return {
        onExecuteDone: (done) =>
          handleStreamOrSingleExecutionResult(done, ({ result, setResult }) =>
            setResult(withErrors(result as ExecutionPart, (errors) => allNamed(errors, document))),
          ),
      };
    },
    onSubscribe({ args }) {
      return {
        onSubscribeResult({ result, setResult }) {
          if (!('errors' in result) || !result.errors) return;
          setResult({ ...result, errors: allNamed(result.errors, args.document) });
        },
      };
    },
  };
}

function allNamed(errors: readonly GraphQLError[], document: DocumentNode): GraphQLError[] {
  const shown = errors.map((error) => named(error, document));
  // graphql-js lists no more than 50 wrong values of variables, and ends with an error that names nothing.
  const last = errors.at(-1);
  if (last?.message.startsWith('Too many errors processing variables')) {
    const { extensions } = shown.at(-2) ?? last;
    shown[shown.length - 1] = new GraphQLError('The variables have further wrong values', { extensions });
  }
  return shown;
}

function named(error: GraphQLError, document: DocumentNode): GraphQLError {
  // A resolver's error is at its field. That of a variable which is null where it must not be is at the value.
  if (error.path && error.nodes?.[0]?.kind === Kind.FIELD) return error;
  const path = argumentOf(error.nodes?.[0], document);
  if (path === null) return error;
  const argument = path + pathInVariable(error.message);
  return new GraphQLError(error.message, {
    nodes: error.nodes ?? null,
    path: error.path ?? null,
    extensions: { code: 'BAD_USER_INPUT', argument },
  });
}

function argumentOf(at: ASTNode | undefined, document: DocumentNode): string | null {
  if (!at) return null;
  if (at.kind === Kind.VARIABLE_DEFINITION) {
    const name = at.variable.name.value;
    return pathTo(document, (value) => value.kind === Kind.VARIABLE && value.name.value === name);
  }
  if (at.kind === Kind.OBJECT_FIELD) return pathTo(document, (value) => value === at.value);
  return pathTo(document, (value) => value === at);
}

/** Path of the fault within a variable's value, such as `.from`. graphql-js gives it only in the message. */
function pathInVariable(message: string): string {
  const inside = /^Variable "\$\w+" got invalid value .* at "\w+((?:\.\w+|\[\d+\])+)"; /s.exec(message)?.[1];
  return inside?.replace(/\[\d+\]/g, '') ?? '';
}

/** The dotted path of the first argument value that `matches`, such as `filter.from`. */
function pathTo(document: DocumentNode, matches: (value: ValueNode) => boolean): string | null {
  let found: string | null = null;
  visit(document, {
    Argument(argument: ArgumentNode) {
      found = pathIn(argument.value, argument.name.value, matches);
      return found === null ? undefined : BREAK;
    },
  });
  return found;
}

function pathIn(value: ValueNode, path: string, matches: (value: ValueNode) => boolean): string | null {
  if (matches(value)) return path;
  const children: [string, ValueNode][] =
    value.kind === Kind.OBJECT
      ? value.fields.map((field) => [`${path}.${field.name.value}`, field.value])
      : value.kind === Kind.LIST
        ? value.values.map((item) => [path, item])
        : [];
  for (const [childPath, child] of children) {
    const found = pathIn(child, childPath, matches);
    if (found !== null) return found;
  }
  return null;
}

import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoFragmentCyclesRule,
  parse,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { limits } from '../../limits.js';

/** Limits of a document (docs/behaviour.md 2), checked before execution. The error names the exceeded limit. */
export interface QueryLimits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxTokens: number;
}

/** Tokens while parsing, depth, aliases and directives while validating. Introspection is exempt from depth. */
export function queryLimits({ maxDepth, maxAliases, maxTokens }: QueryLimits): Plugin {
  const limitRules = [
    NoFragmentCyclesRule,
    depthRule(maxDepth),
    sizeRule(maxTokens),
    countRule(maxAliases, limits.directives),
  ];
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => {
        try {
          return parse(source, { ...options, maxTokens });
        } catch (error) {
          if (!(error instanceof GraphQLError)) throw tooDeep();
          if (!error.message.includes('tokens')) throw error;
          throw tooComplex(`The document has more than ${maxTokens} tokens, which is the limit`);
        }
      });
    },
    onValidate({ setValidationFn }) {
      setValidationFn((schema, document, rules) => {
        // The other rules take long over fragments in a circle, or exhaust the stack.
        const beyond = errorsOf(schema, document, limitRules);
        return beyond.length > 0 ? beyond : errorsOf(schema, document, rules);
      });
    },
  };
}

function errorsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[],
): readonly GraphQLError[] {
  let errors: readonly GraphQLError[];
  try {
    errors = validate(schema, document, rules, { maxErrors: limits.documentErrors });
  } catch {
    return [tooDeep()];
  }
  // The rule that compares fields of one name gives up beyond a number of pairs, and only its message says so.
  if (errors.at(-1)?.message === 'Validation aborted.') {
    return [tooComplex('The document repeats too many fields: too many pairs would have to be compared')];
  }
  if (errors.length > limits.documentErrors) {
    return [
      tooComplex(
        `The document has more than ${limits.documentErrors} errors, the first of them: ${errors[0]?.message}`,
      ),
    ];
  }
  for (const error of errors) error.extensions.code ??= 'GRAPHQL_VALIDATION_FAILED';
  return errors;
}

function depthRule(maxDepth: number) {
  return function DepthLimit(context: ValidationContext): ASTVisitor {
    return {
      OperationDefinition(operation) {
        const depth = new Depth(context).of(operation.selectionSet);
        if (depth > maxDepth) {
          context.reportError(tooComplex(`The operation is ${depth} fields deep; the limit is ${maxDepth}`));
        }
      },
    };
  };
}

/** Each fragment is measured once, so that a document of fragments in fragments cannot make this slow. */
class Depth {
  readonly #context: ValidationContext;
  readonly #fragments = new Map<string, number>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  of(selectionSet: SelectionSetNode | undefined): number {
    let deepest = 0;
    for (const node of selectionSet?.selections ?? []) {
      if (node.kind === Kind.FIELD) deepest = Math.max(deepest, this.#field(node));
      else if (node.kind === Kind.INLINE_FRAGMENT) deepest = Math.max(deepest, this.of(node.selectionSet));
      else deepest = Math.max(deepest, this.#fragment(node.name.value));
    }
    return deepest;
  }

  #field(node: FieldNode): number {
    if (node.name.value.startsWith('__')) return 0;
    // A connection's own edges and nodes do not count (schema.graphql, conventions).
    const own =
      node.name.value === 'edges' || node.name.value === 'nodes' || node.name.value === 'node' ? 0 : 1;
    return own + this.of(node.selectionSet);
  }

  #fragment(name: string): number {
    const known = this.#fragments.get(name);
    if (known !== undefined) return known;
    // Ends the recursion: another rule refuses a fragment that contains itself.
    this.#fragments.set(name, 0);
    const depth = this.of(this.#context.getFragment(name)?.selectionSet);
    this.#fragments.set(name, depth);
    return depth;
  }
}

/**
 * A short document of fragments that each spread another twice expands to exponentially many fields, and the cost
 * estimate, which traverses the expanded document, would not finish. The expanded document may have as many fields as
 * a document may have tokens.
 */
function sizeRule(maxFields: number) {
  return function SizeLimit(context: ValidationContext): ASTVisitor {
    return {
      OperationDefinition(operation) {
        const size = new Size(context).of(operation.selectionSet);
        if (size > maxFields) {
          context.reportError(
            tooComplex(`With its fragments unfolded the operation has over ${maxFields} fields, the limit`),
          );
        }
      },
    };
  };
}

/** Number of selections with all fragments expanded; each fragment is counted once. */
class Size {
  readonly #context: ValidationContext;
  readonly #fragments = new Map<string, number>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  of(selectionSet: SelectionSetNode | undefined): number {
    let size = 0;
    for (const node of selectionSet?.selections ?? []) {
      size += 1;
      size +=
        node.kind === Kind.FRAGMENT_SPREAD ? this.#fragment(node.name.value) : this.of(node.selectionSet);
    }
    return size;
  }

  #fragment(name: string): number {
    const known = this.#fragments.get(name);
    if (known !== undefined) return known;
    // Ends the recursion, as in `Depth`.
    this.#fragments.set(name, 0);
    const size = this.of(this.#context.getFragment(name)?.selectionSet);
    this.#fragments.set(name, size);
    return size;
  }
}

function countRule(maxAliases: number, maxDirectives: number) {
  return function CountLimit(context: ValidationContext): ASTVisitor {
    let aliases = 0;
    let directives = 0;
    return {
      Field(node) {
        if (node.alias) aliases += 1;
      },
      Directive() {
        directives += 1;
      },
      Document: {
        leave() {
          if (aliases > maxAliases) {
            context.reportError(
              tooComplex(`The document has ${aliases} aliases; the limit is ${maxAliases}`),
            );
          }
          if (directives > maxDirectives) {
            context.reportError(
              tooComplex(`The document has ${directives} directives; the limit is ${maxDirectives}`),
            );
          }
        },
      },
    };
  };
}

// The stack was exhausted: parser and rules descend into the document.
const tooDeep = () => tooComplex('The document is nested too deeply to be checked');

function tooComplex(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COMPLEX' } });
}

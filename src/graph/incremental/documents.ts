import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { deferDirective, makesParts, streamDirective } from './directives.js';

/** The document without `@defer` and `@stream`. */
export const wholeOf = memoized(
  (document): DocumentNode =>
    visit(document, {
      Directive: (node) => (makesParts(node) ? null : undefined),
    }),
);

/** A directive around a field, the innermost first. */
export interface Enclosing {
  readonly directive: DirectiveNode;
  /** Of a streamed list: how many fields it is above the enclosed field. */
  readonly fieldsAbove: number;
  readonly outer: Enclosing | null;
}

const enclosings = new WeakMap<FieldNode, Enclosing>();

/** The innermost directive around a field of an `unfolded` document; null where there is none. */
export function enclosingOf(field: FieldNode): Enclosing | null {
  return enclosings.get(field) ?? null;
}

/**
 * The document with every fragment spread replaced by an inline fragment of its own nodes, so that each field node has
 * one place, and `enclosingOf` can say whether it belongs to a deferred part. The executor tells resolvers only the node.
 * The size of an unfolded document is bounded by the rule of `limits.ts`.
 */
export const unfolded = memoized((document): DocumentNode => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }

  function selections({ selections }: SelectionSetNode, around: Around): SelectionSetNode {
    return { kind: Kind.SELECTION_SET, selections: selections.map((node) => selection(node, around)) };
  }

  function selection(node: SelectionNode, around: Around): SelectionNode {
    if (node.kind === Kind.FIELD) return field(node, around);
    const within = enclosed(around, directiveOf(node, deferDirective.name));
    if (node.kind === Kind.INLINE_FRAGMENT) {
      return { ...node, selectionSet: selections(node.selectionSet, within) };
    }
    const fragment = fragments.get(node.name.value);
    if (!fragment) return node;
    const { typeCondition, selectionSet } = fragment;
    const { directives } = node;
    return {
      kind: Kind.INLINE_FRAGMENT,
      typeCondition,
      ...(directives && { directives }),
      selectionSet: selections(selectionSet, within),
    };
  }

  function field(node: FieldNode, { depth, outer }: Around): FieldNode {
    const own = { depth: depth + 1, outer };
    const within = enclosed(own, directiveOf(node, streamDirective.name));
    const copy: FieldNode = {
      ...node,
      ...(node.selectionSet && { selectionSet: selections(node.selectionSet, within) }),
    };
    if (outer) enclosings.set(copy, enclosingAt(own.depth, outer));
    return copy;
  }

  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return {
    ...document,
    definitions: (operations as readonly OperationDefinitionNode[]).map((operation) => ({
      ...operation,
      selectionSet: selections(operation.selectionSet, { depth: 0, outer: null }),
    })),
  };
});

/** The directives around a selection, with the number of fields that each is below the root. */
interface Around {
  readonly depth: number;
  readonly outer: Outer | null;
}

interface Outer {
  readonly directive: DirectiveNode;
  readonly depth: number;
  readonly outer: Outer | null;
}

function enclosed({ depth, outer }: Around, directive: DirectiveNode | undefined): Around {
  return { depth, outer: directive ? { directive, depth, outer } : outer };
}

function enclosingAt(depth: number, around: Outer): Enclosing {
  const { directive, depth: ownDepth, outer } = around;
  return { directive, fieldsAbove: depth - ownDepth, outer: outer && enclosingAt(depth, outer) };
}

function directiveOf({ directives }: SelectionNode, name: string): DirectiveNode | undefined {
  return directives?.find((directive) => directive.name.value === name);
}

function memoized(make: (document: DocumentNode) => DocumentNode): (document: DocumentNode) => DocumentNode {
  const made = new WeakMap<DocumentNode, DocumentNode>();
  return (document) => {
    const known = made.get(document) ?? make(document);
    made.set(document, known);
    return known;
  };
}

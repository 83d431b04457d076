import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getNamedType,
  getOperationAST,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { getArgumentValues, getDirectiveValues, getVariableValues } from 'graphql/execution/values.js';
import type { Plugin } from 'graphql-yoga';
import { QueryTooComplex } from '../errors.js';
import type { GraphContext } from './context.js';

/**
 * What an operation can cost upstream at worst, estimated before it runs (contract 5.7). A field that makes requests
 * says so where it is defined:
 *
 *     t.field({ …, extensions: cost({ requests: (args, parents) => parents, items: (args) => args.first ?? 50 }) })
 *
 * A field without a hint costs nothing and has one item for each parent.
 */
export interface CostHint<Args = Record<string, unknown>> {
  /**
   * Upstream requests at worst for `parents` parents together: `() => 1` where a loader answers all with one list
   * page, `(args, parents) => parents` where each parent needs its own. `nowMs` for a range that ends now.
   */
  readonly requests?: (args: Args, parents: number, nowMs: number) => number;
  /** How many items a list (or a connection) gives at most for each parent. */
  readonly items?: (args: Args) => number;
}

// Hints of fields with different arguments stand in one schema: what reads them back knows only "some arguments".
export function cost<Args>(hint: CostHint<Args>): { upstreamCost: CostHint<Args> } {
  return { upstreamCost: hint };
}

/** Refuses, before it runs, an operation that at worst needs more than `maxCost` upstream requests. */
export function costLimit(maxCost: number): Plugin<GraphContext> {
  const refuse = (args: OperationArgs): void => {
    const estimate = estimateCost(args);
    if (estimate > maxCost) {
      throw new QueryTooComplex(
        `At worst this operation needs ${estimate} upstream requests; the limit is ${maxCost}. Ask for fewer items, ` +
          'or leave out fields that cost a request for each item',
      );
    }
  };
  return {
    onExecute: ({ args }) => refuse(args),
    onSubscribe: ({ args }) => refuse(args),
  };
}

interface OperationArgs {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: graphql's own type of raw variables
  readonly variableValues?: any;
  /** The operation's context, whose clock says when now is. */
  readonly contextValue?: Pick<GraphContext, 'unify'> | undefined;
}

/** Upstream requests at worst; 0 for what graphql itself will refuse (wrong variables, no such operation). */
export function estimateCost({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: OperationArgs): number {
  const operation = getOperationAST(document, operationName);
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !root) return 0;
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  if (variables.errors) return 0;
  const walk = new Walk(schema, document, variables.coerced, contextValue?.unify.clock.now());
  return walk.selection(operation.selectionSet, root, 1);
}

class Walk {
  readonly #schema: GraphQLSchema;
  readonly #variables: Record<string, unknown>;
  readonly #nowMs: number;
  readonly #fragments = new Map<string, { typeName: string; selectionSet: SelectionSetNode }>();

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    variables: Record<string, unknown>,
    nowMs?: number,
  ) {
    this.#schema = schema;
    this.#variables = variables;
    // A range up to a time that nobody knows is as long as can be.
    this.#nowMs = nowMs ?? Number.POSITIVE_INFINITY;
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
      const { name, typeCondition, selectionSet } = definition;
      this.#fragments.set(name.value, { typeName: typeCondition.name.value, selectionSet });
    }
  }

  /** Fragments on different types are added up: which of them will match is not known before. */
  selection(selectionSet: SelectionSetNode, type: GraphQLObjectType | null, parents: number): number {
    let requests = 0;
    for (const node of selectionSet.selections) {
      if (!this.#included(node)) continue;
      if (node.kind === Kind.FIELD) {
        requests += type ? this.#field(node, type, parents) : 0;
      } else if (node.kind === Kind.INLINE_FRAGMENT) {
        const on = node.typeCondition ? this.#objectType(node.typeCondition.name.value) : type;
        requests += this.selection(node.selectionSet, on ?? type, parents);
      } else {
        const fragment = this.#fragments.get(node.name.value);
        if (fragment) {
          requests += this.selection(
            fragment.selectionSet,
            this.#objectType(fragment.typeName) ?? type,
            parents,
          );
        }
      }
    }
    return requests;
  }

  #field(node: FieldNode, type: GraphQLObjectType, parents: number): number {
    const field = type.getFields()[node.name.value];
    if (!field) return 0;
    const hint = hintOf(field);
    const args = hint ? getArgumentValues(field, node, this.#variables) : {};
    const own = hint?.requests?.(args, parents, this.#nowMs) ?? 0;
    if (!node.selectionSet) return own;
    const items = hint?.items?.(args) ?? 1;
    const named = getNamedType(field.type);
    return own + this.selection(node.selectionSet, isObjectType(named) ? named : null, parents * items);
  }

  #objectType(name: string): GraphQLObjectType | null {
    const type = this.#schema.getType(name);
    return isObjectType(type) ? type : null;
  }

  #included(node: SelectionSetNode['selections'][number]): boolean {
    const skip = getDirectiveValues(GraphQLSkipDirective, node, this.#variables);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, this.#variables);
    return skip?.if !== true && include?.if !== false;
  }
}

function hintOf(field: GraphQLField<unknown, unknown>): CostHint | undefined {
  return field.extensions.upstreamCost as CostHint | undefined;
}

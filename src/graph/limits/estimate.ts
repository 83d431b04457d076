import {
  type ArgumentNode,
  BREAK,
  type DirectiveNode,
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
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { getArgumentValues, getDirectiveValues, getVariableValues } from 'graphql/execution/values.js';
import { forever, type UnixMs } from '../../clock.js';
import { knownSensorCount } from '../../unify/sensor/inventory/inventory.js';
import type { Estimate, GraphContext } from '../context.js';
import { type InitialCounts, partsOf } from '../incremental/count.js';
import { hintOf, type KnownCounts } from './cost.js';

export interface OperationArgs {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: graphql's own type of raw variables
  readonly variableValues?: any;
  /** The operation's context: gives the current time, and receives the estimate. */
  readonly contextValue?: Pick<GraphContext, 'unify' | 'estimate'> | undefined;
}

/** The worst-case cost; zero for operations that graphql-js will refuse (wrong variables, unknown operation). */
export function estimateCost(
  { schema, document, operationName, variableValues, contextValue }: OperationArgs,
  known = knownOf({ contextValue }),
): Estimate {
  const operation = getOperationAST(document, operationName);
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !root) return unknown;
  // The first error is enough: the execution meets it again, and reports it.
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {}, {
    maxErrors: 1,
  });
  if (variables.errors) return unknown;
  // Without a clock a range that ends now is taken to be of the greatest length.
  const nowMs = contextValue?.unify.tenant.clock.wallMs() ?? forever;
  return new EstimatedDocument(schema, document, variables.coerced, nowMs, known).selection(
    operation.selectionSet,
    root,
    1,
  );
}

const nothing: Estimate = {
  requests: 0,
  values: 0,
  parts: 0,
  isConstant: true,
  isTimeless: true,
  isBound: true,
  counts: false,
};
// graphql-js refuses the operation; with other variables it may not, so this is not constant.
const unknown: Estimate = { ...nothing, isConstant: false };

function sum(one: Estimate, other: Estimate): Estimate {
  return {
    requests: one.requests + other.requests,
    values: one.values + other.values,
    parts: one.parts + other.parts,
    isConstant: one.isConstant && other.isConstant,
    isTimeless: one.isTimeless && other.isTimeless,
    isBound: one.isBound && other.isBound,
    counts: one.counts || other.counts,
  };
}

class EstimatedDocument {
  readonly #schema: GraphQLSchema;
  readonly #variables: Record<string, unknown>;
  readonly #nowMs: UnixMs;
  readonly #known: KnownCounts;
  readonly #initialCounts: InitialCounts = new Map();
  readonly #fragments = new Map<string, { typeName: string; selectionSet: SelectionSetNode }>();

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    variables: Record<string, unknown>,
    nowMs: UnixMs,
    known: KnownCounts,
  ) {
    this.#schema = schema;
    this.#variables = variables;
    this.#nowMs = nowMs;
    this.#known = known;
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
      const { name, typeCondition, selectionSet } = definition;
      this.#fragments.set(name.value, { typeName: typeCondition.name.value, selectionSet });
    }
  }

  /** Fragments on different types are added up, since it is not known in advance which of them will match. */
  selection(selectionSet: SelectionSetNode, type: GraphQLObjectType | null, parents: number): Estimate {
    return selectionSet.selections
      .map((node) => {
        const estimate = this.#included(node) ? this.#selected(node, type, parents) : nothing;
        return node.directives?.some(usesVariable) ? { ...estimate, isConstant: false } : estimate;
      })
      .reduce(sum, nothing);
  }

  #selected(node: SelectionNode, type: GraphQLObjectType | null, parents: number): Estimate {
    if (node.kind === Kind.FIELD) return type ? this.#field(node, type, parents) : nothing;
    const own: Estimate = {
      ...nothing,
      parts: parents * partsOf(node, this.#variables, this.#initialCounts),
    };
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const on = node.typeCondition ? this.#objectType(node.typeCondition.name.value) : type;
      return sum(own, this.selection(node.selectionSet, on ?? type, parents));
    }
    const fragment = this.#fragments.get(node.name.value);
    if (!fragment) return nothing;
    const on = this.#objectType(fragment.typeName) ?? type;
    return sum(own, this.selection(fragment.selectionSet, on, parents));
  }

  #field(node: FieldNode, type: GraphQLObjectType, parents: number): Estimate {
    const field = type.getFields()[node.name.value];
    if (!field) return node.name.value === '__typename' ? nothing : ofSchema;
    const named = getNamedType(field.type);
    const hint = hintOf(field);
    const args = hint ? this.#arguments(field, node) : {};
    if (args === null) return unknown;
    const usesArguments = takes(hint?.requests, 1) || takes(hint?.items, 1);
    const requests = hint?.requests?.(args, parents, this.#nowMs) ?? 0;
    const items = hint?.items?.(args, this.#known) ?? 1;
    const own: Estimate = {
      requests,
      values: node.selectionSet ? 0 : parents,
      parts: parents * partsOf(node, this.#variables, this.#initialCounts, items),
      isConstant: !(usesArguments && node.arguments?.some(usesVariable)),
      // A range that ends now only grows with time: an estimate equal to that at infinity is constant.
      isTimeless: !takes(hint?.requests, 3) || requests === hint?.requests?.(args, parents, forever),
      isBound: named.name !== 'Samples' && named.name !== 'JSON',
      counts: takes(hint?.items, 2),
    };
    if (!node.selectionSet) return own;
    return sum(own, this.selection(node.selectionSet, isObjectType(named) ? named : null, parents * items));
  }

  /** Null where a variable is null that must not be: the execution reports it at the field, which is not resolved. */
  #arguments(field: GraphQLField<unknown, unknown>, node: FieldNode): Record<string, unknown> | null {
    try {
      return getArgumentValues(field, node, this.#variables);
    } catch {
      return null;
    }
  }

  #objectType(name: string): GraphQLObjectType | null {
    const type = this.#schema.getType(name);
    return isObjectType(type) ? type : null;
  }

  #included(node: SelectionNode): boolean {
    const skip = getDirectiveValues(GraphQLSkipDirective, node, this.#variables);
    const include = getDirectiveValues(GraphQLIncludeDirective, node, this.#variables);
    return skip?.if !== true && include?.if !== false;
  }
}

// Introspection fields: the number of values depends on the schema.
const ofSchema: Estimate = { ...nothing, isBound: false };

/** True if the hint function declares at least `count` parameters. */
function takes(hint: { readonly length: number } | undefined, count: number): boolean {
  return hint !== undefined && hint.length >= count;
}

function usesVariable(node: ArgumentNode | DirectiveNode): boolean {
  let isUsed = false;
  visit(node, {
    Variable() {
      isUsed = true;
      return BREAK;
    },
  });
  return isUsed;
}

// One to two milliseconds of work.
const valuesOfShort = 1_000;

/** True if the answer takes so little time that it needs no event-loop slices. */
export function isShort(estimate: Estimate | undefined): boolean {
  return estimate?.isBound === true && estimate.values <= valuesOfShort;
}

/** Tenants differ in what is known of them. Without a context nothing is. */
export function knownOf({ contextValue }: Pick<OperationArgs, 'contextValue'>): KnownCounts {
  return { sensors: contextValue ? knownSensorCount(contextValue.unify.tenant) : Number.POSITIVE_INFINITY };
}

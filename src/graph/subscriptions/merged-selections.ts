import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isLeafType,
  isObjectType,
  Kind,
  OperationTypeNode,
  print,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import type { PayloadOperation } from './live-operation.js';

/** The fields that an operation selects, in the order of its answer, with fragments and conditions resolved. */
export type Selection = readonly SelectedField[];

interface SelectedField {
  /** Its name in the answer. */
  readonly name: string;
  /** Equal for equal fields of one type: the name in the schema, with arguments. */
  readonly key: string;
  readonly node: FieldNode;
  /** Null for a leaf. */
  readonly fields: Selection | null;
}

/** What several operations select from one type, each field once, by `key`. */
type MergedFields = ReadonlyMap<string, MergedField>;

interface MergedField {
  readonly alias: string;
  readonly node: FieldNode;
  readonly fields: MergedFields;
}

/**
 * The selection of an operation that can be executed together with others; null for one that is executed by itself: where
 * an argument has a variable, or what is selected depends on the type of a value.
 */
export function selectionOf(
  schema: GraphQLSchema,
  { document, operationName, variableValues }: PayloadOperation,
): Selection | null {
  const operation = getOperationAST(document, operationName);
  const root = schema.getSubscriptionType();
  if (!operation || !root) return null;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues);
  if (!coerced) return null;
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }

  function selected(
    type: GraphQLObjectType,
    byName: ReadonlyMap<string, readonly FieldNode[]>,
  ): Selection | null {
    const selection: SelectedField[] = [];
    for (const [name, nodes] of byName) {
      const [node] = nodes;
      // As the key of a literal object this name would set its prototype.
      if (!node || name === '__proto__' || hasVariable(node)) return null;
      const key = `${node.name.value}(${(node.arguments ?? []).map(print).sort().join()})`;
      const returned = getNamedType(type.getFields()[node.name.value]?.type);
      // `__typename` is a field of no type.
      if (returned === undefined || isLeafType(returned)) {
        selection.push({ name, key, node, fields: null });
        continue;
      }
      if (!isObjectType(returned)) return null;
      const fields = selected(returned, collectSubfields(schema, fragments, coerced ?? {}, returned, nodes));
      if (fields === null) return null;
      selection.push({ name, key, node, fields });
    }
    return selection;
  }

  return selected(root, collectFields(schema, fragments, coerced, root, operation.selectionSet));
}

function hasVariable(node: FieldNode): boolean {
  let has = false;
  for (const argument of node.arguments ?? []) {
    visit(argument, {
      Variable() {
        has = true;
      },
    });
  }
  return has;
}

/** One subscription that selects all that the given selections do. */
export class MergedSelections {
  readonly selections: Selection[] = [];
  /** Number of its fields. */
  values = 0;
  readonly #fields: Merging = new Map();
  #document: DocumentNode | null = null;

  /** As many as it takes for each to have about `mostValues` fields, in the order of the selections. */
  static of(selections: readonly Selection[], mostValues: number): readonly MergedSelections[] {
    const all: MergedSelections[] = [];
    for (const selection of selections) {
      let last = all.at(-1);
      if (!last || last.values >= mostValues) {
        last = new MergedSelections();
        all.push(last);
      }
      last.#add(selection);
    }
    return all;
  }

  get document(): DocumentNode {
    this.#document ??= {
      kind: Kind.DOCUMENT,
      definitions: [
        {
          kind: Kind.OPERATION_DEFINITION,
          operation: OperationTypeNode.SUBSCRIPTION,
          selectionSet: selectionSetOf(this.#fields),
        },
      ],
    };
    return this.#document;
  }

  /** What one of the selections gets of the answer to `document`, which has no errors. */
  answerFor(selection: Selection, data: unknown): Record<string, unknown> {
    return partOf(selection, this.#fields, data as Answered);
  }

  #add(selection: Selection): void {
    this.selections.push(selection);
    this.values += merge(this.#fields, selection);
  }
}

type Merging = Map<string, MergedField & { readonly fields: Merging }>;
type Answered = Readonly<Record<string, unknown>>;

/** The number of fields that were not there yet. */
function merge(into: Merging, selection: Selection): number {
  let added = 0;
  for (const { key, node, fields } of selection) {
    let field = into.get(key);
    if (!field) {
      field = { alias: `f${into.size}`, node, fields: new Map() };
      into.set(key, field);
      added++;
    }
    if (fields) added += merge(field.fields, fields);
  }
  return added;
}

function selectionSetOf(fields: MergedFields): SelectionSetNode {
  const selections = Array.from(fields.values(), ({ alias, node, fields }): FieldNode => {
    const { name, arguments: given = [] } = node;
    return {
      kind: Kind.FIELD,
      alias: { kind: Kind.NAME, value: alias },
      name,
      arguments: given,
      ...(fields.size > 0 && { selectionSet: selectionSetOf(fields) }),
    };
  });
  return { kind: Kind.SELECTION_SET, selections };
}

function partOf(selection: Selection, merged: MergedFields, data: Answered): Record<string, unknown> {
  const part: Record<string, unknown> = {};
  for (const { name, key, fields } of selection) {
    const field = merged.get(key);
    const value = field && data[field.alias];
    part[name] = field && fields ? partsOf(fields, field.fields, value) : value;
  }
  return part;
}

function partsOf(selection: Selection, merged: MergedFields, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => partsOf(selection, merged, item));
  return value === null || value === undefined ? null : partOf(selection, merged, value as Answered);
}

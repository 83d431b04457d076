import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** A subscription split into its filter (which changes it gets) and its payload (the selection for each change). */
export interface LiveOperation {
  /** Equal for subscriptions with the same filter and payload, whatever their `after`. */
  readonly key: string;
  readonly payload: PayloadOperation;
}

/** The operation executed for each change. It has no filter, so that subscribers with different filters share it. */
export interface PayloadOperation {
  /** Equal for equal payloads. */
  readonly key: string;
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variableValues: Readonly<Record<string, unknown>>;
  /** Approximate number of selected fields, for the event-loop slice. */
  readonly values: number;
}

/**
 * Removes the arguments of the subscription's root field (`after`: where the replay starts; `filter`: which changes it
 * gets) from the operation executed for each change, with the variables that only they use. The root resolver does not
 * need them: it passes each change through.
 */
export function liveOperation(args: ExecutionArgs): LiveOperation {
  const { schema, document, operationName = null } = args;
  const { withFilter, payload } = partsOf(schema, document, operationName);
  const filtered = valuesOf(withFilter.variables, args);
  const variableValues = valuesOf(payload.variables, args);
  return {
    key: JSON.stringify([withFilter.text, operationName, filtered]),
    payload: {
      key: JSON.stringify([payload.text, operationName, variableValues]),
      document: payload.document,
      operationName,
      variableValues,
      values: payload.values,
    },
  };
}

function valuesOf(names: readonly string[], { variableValues }: ExecutionArgs): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variableValues?.[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

interface Parts {
  readonly withFilter: Stripped;
  readonly payload: Stripped;
}

interface Stripped {
  readonly document: DocumentNode;
  readonly text: string;
  /** Names of the variables that are still used, in order. */
  readonly variables: readonly string[];
  readonly values: number;
}

// Cached, since thousands of sockets send the same text and the engine caches one parsed document for it.
const made = new WeakMap<DocumentNode, Map<string | null, Parts>>();

function partsOf(schema: GraphQLSchema, document: DocumentNode, operationName: string | null): Parts {
  const byName = made.get(document) ?? new Map<string | null, Parts>();
  made.set(document, byName);
  const known = byName.get(operationName);
  if (known) return known;
  const parts = {
    withFilter: without((name) => name === 'after', schema, document, operationName),
    payload: without(() => true, schema, document, operationName),
  };
  byName.set(operationName, parts);
  return parts;
}

/** The document without these arguments of the subscription's root field. */
function without(
  isLeftOut: (argument: string) => boolean,
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null,
): Stripped {
  const types = new TypeInfo(schema);
  const subscription = schema.getSubscriptionType();
  const stripped: DocumentNode = visit(
    document,
    visitWithTypeInfo(types, {
      // Arguments of directives stay, since they decide the selection.
      Argument: ({ name }) =>
        !types.getDirective() && types.getParentType() === subscription && isLeftOut(name.value)
          ? null
          : undefined,
    }),
  );
  const operation = getOperationAST(stripped, operationName);
  const used = new Set<string>();
  let values = 0;
  const keepUse = {
    Variable: ({ name }: { name: { value: string } }) => void used.add(name.value),
    Field: () => void values++,
  };
  for (const definition of stripped.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) visit(definition, keepUse);
  }
  if (operation) visit(operation.selectionSet, keepUse);
  const shared: DocumentNode = visit(stripped, {
    VariableDefinition: ({ variable }) => (used.has(variable.name.value) ? undefined : null),
  });
  return { document: shared, text: print(shared), variables: [...used].sort(), values };
}

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

/** A subscription, taken apart into which changes it gets and what it is told of each. */
export interface LiveOperation {
  /** Equal for subscriptions that get the same changes with the same payloads, wherever they begin. */
  readonly key: string;
  readonly payload: PayloadOperation;
}

/** What is executed for a change. It has no filter, so that those who filter differently share its result. */
export interface PayloadOperation {
  /** Equal for equal payloads. */
  readonly key: string;
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variableValues: Readonly<Record<string, unknown>>;
  /** Fields that it selects, about. */
  readonly values: number;
}

/**
 * Arguments of a subscription's own field say where it begins (`after`) and which changes it gets (`filter`): its resolver
 * passes each change on as it comes. They are taken out of what is executed, with the variables that only they use.
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

// Thousands of sockets send the same text, of which the engine keeps one parsed document.
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

/** The document without these arguments of its subscription's own field. */
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
      // A directive's arguments stay: they say what is selected.
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

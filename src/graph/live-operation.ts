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

/** A subscription without what is one subscriber's alone: where it begins. */
export interface LiveOperation {
  /** Equal for subscriptions that are given the same payloads. */
  readonly key: string;
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variableValues: Readonly<Record<string, unknown>>;
}

/** `after` only says where a subscription begins, so it is taken out, with the variable that only it uses. */
export function liveOperation(args: ExecutionArgs): LiveOperation {
  const { schema, document, operationName = null } = args;
  const { shared, text, variables } = withoutAfter(schema, document, operationName);
  const variableValues = Object.fromEntries(
    variables.flatMap((name) => {
      const value = args.variableValues?.[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const key = JSON.stringify([text, operationName, variableValues]);
  return { key, document: shared, operationName, variableValues };
}

interface Shared {
  readonly shared: DocumentNode;
  readonly text: string;
  /** Names of the variables that are still used, in order. */
  readonly variables: readonly string[];
}

// Thousands of sockets send the same text, of which the engine keeps one parsed document.
const made = new WeakMap<DocumentNode, Map<string | null, Shared>>();

function withoutAfter(schema: GraphQLSchema, document: DocumentNode, operationName: string | null): Shared {
  const byName = made.get(document) ?? new Map<string | null, Shared>();
  made.set(document, byName);
  const known = byName.get(operationName);
  if (known) return known;
  const types = new TypeInfo(schema);
  const subscription = schema.getSubscriptionType();
  const stripped: DocumentNode = visit(
    document,
    visitWithTypeInfo(types, {
      Argument: ({ name }) =>
        name.value === 'after' && types.getParentType() === subscription ? null : undefined,
    }),
  );
  const operation = getOperationAST(stripped, operationName);
  const used = new Set<string>();
  const keepUse = { Variable: ({ name }: { name: { value: string } }) => void used.add(name.value) };
  for (const definition of stripped.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) visit(definition, keepUse);
  }
  if (operation) visit(operation.selectionSet, keepUse);
  const shared: DocumentNode = visit(stripped, {
    VariableDefinition: ({ variable }) => (used.has(variable.name.value) ? undefined : null),
  });
  const result = { shared, text: print(shared), variables: [...used].sort() };
  byName.set(operationName, result);
  return result;
}

import fc from 'fast-check';
import {
  type DirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  getNullableType,
  isListType,
  Kind,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The query with `@defer` and `@stream` at random places: each draw is used up at one place where a directive can be. */
export function withRandomDirectives(schema: GraphQLSchema, query: string): fc.Arbitrary<string> {
  return fc
    .array(fc.nat({ max: 11 }), { minLength: 30, maxLength: 30 })
    .map((draws) => print(withDirectives(schema, parse(query), draws)));
}

function withDirectives(
  schema: GraphQLSchema,
  document: DocumentNode,
  draws: readonly number[],
): DocumentNode {
  const types = new TypeInfo(schema);
  const left = [...draws];
  let labels = 0;
  const named: Record<string, { type: string; selectionSet: SelectionSetNode }> = {};

  function directive(name: 'defer' | 'stream', more: readonly string[] = []): DirectiveNode {
    const given = [...more, ...(left.length % 2 === 0 ? [`label: "l${labels++}"`] : [])];
    const text = `{ f @${name}${given.length > 0 ? `(${given.join(', ')})` : ''} }`;
    const [operation] = parse(text).definitions;
    const [field] = operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet.selections : [];
    const [made] = field?.directives ?? [];
    if (!made) throw new Error(`${text} has no directive`);
    return made;
  }

  /** Some of the selections move into fragments, deferred or not. */
  function apart({ selections }: SelectionSetNode, type: string): SelectionSetNode {
    const result: SelectionNode[] = [];
    for (const selection of selections) {
      const draw = left.pop() ?? 0;
      const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: [selection] };
      // Of 6 and 11, also in the rest. A label is used once, and a list is streamed in the same way wherever it is.
      const isTwice = draw === 6 && !print(selection).includes('@');
      if (draw < 6 || isTwice) result.push(selection);
      if (draw >= 6 && draw < 9) {
        result.push({ kind: Kind.INLINE_FRAGMENT, directives: [directive('defer')], selectionSet });
      } else if (draw === 9) {
        const condition = directive('defer', ['if: false']);
        result.push({ kind: Kind.INLINE_FRAGMENT, directives: [condition], selectionSet });
      } else if (draw > 9) {
        const name = `F${Object.keys(named).length}`;
        named[name] = { type, selectionSet };
        const value = { kind: Kind.NAME, value: name } as const;
        result.push({ kind: Kind.FRAGMENT_SPREAD, name: value, directives: [directive('defer')] });
        if (draw === 11) result.push({ kind: Kind.FRAGMENT_SPREAD, name: value });
      }
    }
    return { kind: Kind.SELECTION_SET, selections: result };
  }

  const changed = visit(
    document,
    visitWithTypeInfo(types, {
      Field: {
        leave(node) {
          const type = types.getType();
          const draw = left.pop() ?? 0;
          if (!type || !isListType(getNullableType(type)) || draw < 5) return undefined;
          return {
            ...node,
            directives: [directive('stream', draw < 8 ? [] : [`initialCount: ${draw - 8}`])],
          };
        },
      },
      SelectionSet: {
        leave(node) {
          const type = types.getParentType();
          return type ? apart(node, type.name) : undefined;
        },
      },
    }),
  );
  return {
    ...changed,
    definitions: [
      ...changed.definitions,
      ...Object.entries(named).map(([name, { type, selectionSet }]) => ({
        kind: Kind.FRAGMENT_DEFINITION as const,
        name: { kind: Kind.NAME as const, value: name },
        typeCondition: { kind: Kind.NAMED_TYPE as const, name: { kind: Kind.NAME as const, value: type } },
        selectionSet,
      })),
    ],
  };
}

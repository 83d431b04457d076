import {
  type DocumentNode,
  type FieldNode,
  type FormattedExecutionResult,
  Kind,
  print,
  type SelectionSetNode,
} from 'graphql';
import type { OperationText } from '../connection/post.js';

/** A subscription that can go on behind any of its changes. */
export interface Resumable {
  /** The operation behind the cursor; null begins with the changes from now on. */
  behind(cursor: string | null): OperationText;
  /** Throws where the result has no data. */
  cursorOf(result: FormattedExecutionResult): string | null;
}

/** Throws, with what to add, where the document lacks its cursor or the variable that takes one. */
export function resumable(document: DocumentNode, variables: object): Resumable {
  const field = rootFieldOf(document);
  const title = field.name.value;
  const after = field.arguments?.find(({ name }) => name.value === 'after')?.value;
  if (after?.kind !== Kind.VARIABLE) {
    throw new TypeError(
      `This subscription cannot be resumed: pass a variable as \`after\`, ` +
        `subscription ($after: String) { ${title}(after: $after) { … } }. A feed without \`after\` has no cursors.`,
    );
  }
  const cursor = fieldsOf(field.selectionSet, document).find(({ name }) => name.value === 'cursor');
  if (!cursor) throw new TypeError(`This subscription cannot be resumed: select \`cursor\` in ${title}`);
  const query = print(document);
  const keys = [keyOf(field), keyOf(cursor)];
  return {
    behind: (position) => ({ query, variables: { ...variables, [after.name.value]: position } }),
    cursorOf({ data }) {
      const found = keys.reduce<unknown>(
        (value, key) => (value as Record<string, unknown> | null)?.[key],
        data,
      );
      return typeof found === 'string' ? found : null;
    },
  };
}

function rootFieldOf(document: DocumentNode): FieldNode {
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION || definition.operation !== 'subscription') continue;
    const [field] = fieldsOf(definition.selectionSet, document);
    if (field) return field;
  }
  throw new TypeError('The document has no subscription');
}

/** The fields of a selection, those of its fragments included. */
function fieldsOf(selectionSet: SelectionSetNode | undefined, document: DocumentNode): readonly FieldNode[] {
  return (selectionSet?.selections ?? []).flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection;
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet, document);
    const fragment = document.definitions.find(
      (definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value,
    );
    return fragment && 'selectionSet' in fragment ? fieldsOf(fragment.selectionSet, document) : [];
  });
}

const keyOf = ({ alias, name }: FieldNode) => (alias ?? name).value;

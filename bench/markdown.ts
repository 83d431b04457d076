/** A table that can be pasted as it is: the first column is text, the others are numbers. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, columns.map((_, index) => (index === 0 ? '---' : '--:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

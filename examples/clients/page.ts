import { createInterface } from 'node:readline';

/** Where the page finds the gateway. */
export const gateway = process.argv[2] ?? 'http://127.0.0.1:4000';

/**
 * Stands in for a browser: each line of stdin presses the button of that name, and what the page shows is a line of JSON
 * on stdout, so that people and tests can use the page without one.
 */
export function runPage(buttons: Readonly<Record<string, () => unknown>>): void {
  process.on('uncaughtException', fail);
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (name) => void buttons[name.trim()]?.());
  lines.on('close', () => process.exit());
}

export function show(part: 'triggers' | 'batteries', rows: readonly string[]): void {
  console.log(JSON.stringify({ part, rows }));
}

/** Ends the page with a message, where there is nothing that it could show. */
export function fail({ message }: { readonly message: string }): void {
  const isUnknown = /persisted/i.test(message);
  const remedy = isUnknown
    ? 'The gateway has to know the operations of this page: start it with PERSISTED_OPERATIONS and ' +
      'PERSISTED_OPERATIONS_FILE as the README of this example says.'
    : `Is a gateway at ${gateway}?`;
  console.error(`${message}\n${remedy}`);
  process.exit(1);
}

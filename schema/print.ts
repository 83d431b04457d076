import { readFileSync, writeFileSync } from 'node:fs';
import { printedSchema } from '../src/graph/print-schema.js';

// `npm run schema` writes the printed graph; `-- --check` fails where the file is not what would be printed.
const file = new URL('schema.graphql', import.meta.url);
const printed = printedSchema();

if (!process.argv.includes('--check')) {
  writeFileSync(file, printed);
} else if (readFileSync(file, 'utf8') !== printed) {
  console.error(
    'schema/schema.graphql is not what the code prints: run `npm run schema` and commit the result',
  );
  process.exitCode = 1;
}

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

// Folders in the order the data flows; each imports what stands in its row, besides its own files.
const shared = [
  'errors.ts',
  'clock.ts',
  'limits.ts',
  'log.ts',
  'maybe.ts',
  'scrubber.ts',
  'event-loop-slices.ts',
];
const mayImport: Record<string, readonly string[]> = {
  config: shared,
  store: shared,
  upstream: [...shared, 'store'],
  unify: [...shared, 'upstream'],
  live: [...shared, 'store', 'upstream', 'unify'],
  graph: [...shared, 'upstream', 'unify', 'live'],
  server: [...shared, 'config', 'store', 'upstream', 'unify', 'live', 'graph'],
  sandbox: ['clock.ts'],
  // Runs in pages, and alone.
  client: [],
};

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

describe('the folders of src', () => {
  it('import only what the flow of data allows', () => {
    const wrong: string[] = [];
    for (const [file, targets] of imports) {
      const folder = topOf(file);
      const allowed = mayImport[folder];
      if (!allowed) continue;
      for (const target of targets) {
        const top = topOf(target);
        if (top !== folder && !allowed.includes(top)) wrong.push(`${file} imports ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('have no import cycles', () => {
    expect(files.map((file) => cycleFrom(file)).filter((cycle) => cycle !== null)).toEqual([]);
  });

  it('read the environment in one file', () => {
    const readers = files.filter((file) => /process\.env/.test(readFileSync(join(src, file), 'utf8')));
    expect(readers).toEqual([join('config', 'config.ts')]);
  });

  it.each([
    ['durations', 'clock.ts', /\b(60_000|3_600_000|86_400_000)\b/],
    ['page sizes', join('upstream', 'page-sizes.ts'), /\b(limit|pageSize|largestPage) ?[=:] ?\d{2,}/],
  ])('state %s in one table, %s', (_, table, literal) => {
    const elsewhere = files.filter((file) => literal.test(readFileSync(join(src, file), 'utf8')));
    expect(elsewhere.filter((file) => file !== table)).toEqual([]);
  });
});

function topOf(file: string): string {
  return file.split(sep)[0] ?? file;
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)\.js'/g)].map(
    (match) => `${match[1]}.ts`,
  );
  return specifiers.map((specifier) => relative(src, normalize(join(src, dirname(file), specifier))));
}

function cycleFrom(start: string): string | null {
  const seen = new Set<string>();
  const stack = [...(imports.get(start) ?? [])].map((file) => [start, file]);
  for (let path = stack.pop(); path; path = stack.pop()) {
    const last = path.at(-1) ?? start;
    if (last === start) return path.join(' → ');
    if (seen.has(last)) continue;
    seen.add(last);
    for (const next of imports.get(last) ?? []) stack.push([...path, next]);
  }
  return null;
}

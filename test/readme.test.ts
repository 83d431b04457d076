import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderMarkdownTable } from '../src/settings-text.js';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

describe('the README', () => {
  it('has the table of settings that the code has', () => {
    expect(section('settings')).toBe(renderMarkdownTable());
  });

  it('shows operations exactly as schema/operations has them', () => {
    const shown = [...readme.matchAll(/```graphql\n# (schema\/operations\/\S+)\n([\s\S]*?)```/g)];
    expect(shown.length).toBeGreaterThan(0);
    for (const [, path, text] of shown) {
      expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8').trim(), path).toBe(text?.trim());
    }
  });

  it('names only commands that package.json has, and files that exist', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    const commands = [...readme.matchAll(/npm run (\w+)/g)].map((match) => match[1] ?? '');
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
    const files = [...readme.matchAll(/\]\((?!http|#)([^)]+)\)/g)].map((match) => match[1] ?? '');
    expect(files.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([]);
  });
});

function section(name: string): string | undefined {
  return readme.split(`<!-- ${name} -->`)[1]?.trim();
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getOperationAST, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { renderMarkdownTable } from '../src/config/settings-text.js';
import { schema } from '../src/graph/schema.js';
import { aTrigger } from '../src/sandbox/builders.js';
import { livingWorld } from '../src/sandbox/simulation/living-world.js';
import { startGateway } from './support/gateway.js';

const root = new URL('../', import.meta.url);
const docs = readdirSync(new URL('docs/', root)).filter((file) => file.endsWith('.md'));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...docs.map((file) => `docs/${file}`),
];
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
/** Bodies of requests that a page shows as `curl -d '…'`; those to the router of the federation are in its test. */
const bodies = pages.flatMap((page) =>
  [...read(page).matchAll(/:4000\/graphql[^`]*?-d '([^']+)'/g)].map(([, body = '']) => ({
    page,
    query: JSON.parse(body).query,
  })),
);

describe('the README', () => {
  it('is read in one go: what is for reference lies in docs/', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150);
  });

  it('shows operations exactly as schema/operations has them', () => {
    const shown = [...read('README.md').matchAll(/```graphql\n# (schema\/operations\/\S+)\n([\s\S]*?)```/g)];
    expect(shown.length).toBeGreaterThan(0);
    for (const [, path = '', text] of shown) expect(read(path).trim(), path).toBe(text?.trim());
  });
});

describe('the pages', () => {
  it('have the table of settings that the code has', () => {
    const table = read('docs/operations.md').split('<!-- settings -->')[1]?.trim();
    expect(table).toBe(renderMarkdownTable());
  });

  it.each(pages)('%s names only commands that package.json has, and links to what exists', (page) => {
    const { scripts } = JSON.parse(read('package.json'));
    const commands = [...read(page).matchAll(/npm run (\w+)/g)].map((match) => match[1] ?? '');
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
    const links = [...read(page).matchAll(/\]\((?!http)([^)]*)\)/g)].map((match) => match[1] ?? '');
    expect(links.filter((link) => !isThere(link, page))).toEqual([]);
  });

  it('have every section that the code cites', () => {
    const numbersIn = (page: string) =>
      [...read(page).matchAll(/^#+ ([PC]?\d+(?:\.\d+)?)\b/gm)].map(([, number]) => number);
    const sections: Record<string, readonly unknown[]> = {
      behaviour: numbersIn('docs/behaviour.md'),
      interfaces: numbersIn('docs/interfaces.md'),
    };
    const citation =
      /docs\/(behaviour|interfaces)\.md ([PC]?\d+(?:\.\d+)?(?:(?:, | and |–)[PC]?\d+(?:\.\d+)?)*)/g;
    const missing: string[] = [];
    for (const folder of ['src', 'test', 'bench']) {
      for (const file of readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })) {
        if (!file.endsWith('.ts') || file.includes('node_modules')) continue;
        for (const [text, page = '', numbers = ''] of read(`${folder}/${file}`).matchAll(citation)) {
          const cited = numbers.split(/, | and |–/);
          if (cited.some((number) => !sections[page]?.includes(number)))
            missing.push(`${folder}/${file}: ${text}`);
        }
      }
    }
    expect(missing).toEqual([]);
  });

  it('list every code of an error that a client can see, and no other', async () => {
    await using gateway = await startGateway();
    const post = (body: object) =>
      fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    // The executor has this one.
    const response = await post({ query: 'query A { __typename } query B { __typename }' });
    const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
    const codes = new Set([...codesInSource(), ...errors.map(({ extensions }) => extensions.code)]);
    expect([...codesIn('docs/frontends.md')].sort()).toEqual([...codes].sort());
    expect(codesIn('docs/behaviour.md').filter((code) => !codes.has(code))).toEqual([]);
  });

  it('show excerpts of the examples as these are', () => {
    const excerpts = pages.flatMap((page) => [
      ...read(page).matchAll(/<!-- from (\S+) -->\n```\w+\n([\s\S]*?)```/g),
    ]);
    expect(excerpts.length).toBeGreaterThanOrEqual(10);
    for (const [, path = '', text = ''] of excerpts)
      expect(withoutIndentation(read(path)), path).toContain(withoutIndentation(text));
  });

  it('show requests that are answered on the sandbox', async () => {
    expect(bodies.length).toBeGreaterThanOrEqual(3);
    const sandbox = { world: livingWorld({ seed: 1, startMs: Date.now() }) };
    await using gateway = await startGateway({ sandbox });
    for (const { page, query } of bodies) {
      const document = parse(query);
      expect(validate(schema, document), page).toEqual([]);
      if (getOperationAST(document)?.operation === 'query') await gateway.query(query);
    }
  });

  it('show queries that find something on the sandbox', async () => {
    const queries = queriesIn('docs/frontends.md');
    expect(queries.length).toBeGreaterThanOrEqual(8);
    const world = livingWorld({ seed: 1, startMs: Date.now() });
    // Whether the last day had strong shaking near the examples' place is the world's chance.
    const near = world.project.sensors.find(
      ({ network, location }) =>
        network === 'SG' &&
        Math.hypot((location?.latitude ?? 0) - 34, (location?.longitude ?? 0) + 118) < 0.5,
    );
    const { device_id, station } = near ?? expect.unreachable('no sensor stands there');
    const start_time = new Date(Date.now() - 3_600_000).toISOString();
    world.project.triggers.push(aTrigger({ id: 1e9, device_id, station, start_time, pga_horizontal_mg: 20 }));
    await using gateway = await startGateway({
      sandbox: { world, rateLimits: false },
      env: { PROJECT_RATE_PER_MINUTE: '60000', PROJECT_RATE_BURST: '1000', CATALOGUE_TIER: 'premium' },
    });
    for (const query of queries) {
      expect(validate(schema, parse(query)), query).toEqual([]);
      expect(emptyIn(await gateway.query(query)), query).toEqual([]);
    }
  });
});

/** The queries of a page, whole in a block or a root field in its text, and as of now where they name a day. */
function queriesIn(page: string): string[] {
  const text = read(page).replace(/<!-- from \S+ -->\n```[\s\S]*?```/g, '');
  const blocks = [...text.matchAll(/^```graphql\n([\s\S]*?)```/gm)].map(([, query = '']) => query);
  const inText = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(
    ([, code = '']) => code,
  );
  const fields = inText
    .filter((code) => /^(events|sensors|sensor|triggers)\(/.test(code) && !/[$…]/.test(code))
    .map((code) => `{ ${code} ${code.endsWith('}') ? '' : '{ nodes { id } }'} }`);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  return [...blocks, ...fields].map((query) => query.replace(/\d{4}-\d\d-\d\d/g, yesterday));
}

/** Paths of what shows nothing: null, a list without items, or what is so in each item of a list. */
function emptyIn(value: unknown, path = ''): string[] {
  if (value === null || (Array.isArray(value) && value.length === 0)) return [path];
  if (typeof value !== 'object') return [];
  if (Array.isArray(value)) {
    const [first = [], ...others] = value.map((item) => emptyIn(item, path));
    return first.filter((empty) => others.every((other) => other.includes(empty)));
  }
  return Object.entries(value).flatMap(([key, inner]) => emptyIn(inner, `${path}/${key}`));
}

/** An excerpt begins at the margin, wherever it was in its file. */
function withoutIndentation(text: string): string {
  return text.replace(/^ +/gm, '');
}

/** In the tables that begin with the column `code`. */
function codesIn(page: string): string[] {
  const tables = read(page).match(/^\| code \|.*\n(?:\|.*\n)+/gm) ?? [];
  const cells = tables.flatMap((table) => table.split('\n').map((row) => row.split('|')[1] ?? ''));
  return cells.flatMap((cell) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code = '']) => code));
}

function codesInSource(): string[] {
  const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' });
  const lines = files
    .filter((file) => file.endsWith('.ts') && !file.startsWith('sandbox/') && !file.startsWith('config/'))
    .flatMap((file) => read(`src/${file}`).split('\n'))
    .flatMap((line) => /(?:\bcode\b|refusal\(|^ {2}\d{3}: ).*/.exec(line) ?? []);
  const codes = lines.flatMap((line) => [...line.matchAll(/'([A-Z][A-Z_]+)'/g)].map(([, code = '']) => code));
  // Node's own begin with ERR_. The abort reason of an operation whose client has gone reaches nobody.
  return codes.filter((code) => !code.startsWith('ERR_') && code !== 'CLIENT_GONE');
}

function isThere(link: string, page: string): boolean {
  const [path, anchor] = link.split('#');
  const target = new URL(path || page.split('/').at(-1) || '', new URL(page, root));
  if (!existsSync(target)) return false;
  return anchor === undefined || anchors(readFileSync(target, 'utf8')).includes(anchor);
}

/** Of the headings, as GitHub makes them. */
function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

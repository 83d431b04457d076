import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { build, startProcess } from '../support/gateway-process.js';

const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
const text = 'query Mine($first: Int) { sensors(first: $first) { nodes { id } } }';
const relay = { [hash('md5', text)]: text };
const preset = { [hash('sha1', text)]: text };
const withTypename = text.replace('{ id }', '{ id __typename }');
const apollo = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [{ id: hash('sha256', withTypename), name: 'Mine', type: 'query', body: withTypename }],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manifests-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function send({ url }: Pick<TestGateway, 'url'>, parameters: object) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  const { data, errors } = await response.json();
  return errors?.[0]?.extensions.code ?? Object.keys(data)[0];
}

describe('PERSISTED_OPERATIONS_FILE', () => {
  it('takes the manifests of Relay, of Apollo and of the client preset, several at once', async () => {
    const files = [
      await file('relay.json', relay),
      await file('preset.json', preset),
      await file('apollo.json', apollo),
    ];
    await using gw = await startGateway({
      env: { PERSISTED_OPERATIONS: 'only', PERSISTED_OPERATIONS_FILE: files.join(' , ') },
    });
    const variables = { first: 1 };
    for (const parameters of [
      { documentId: Object.keys(relay)[0], variables },
      { id: Object.keys(relay)[0], variables },
      { doc_id: Object.keys(relay)[0], query: '', variables },
      { documentId: `sha256:${Object.keys(preset)[0]}`, variables },
      { documentId: apollo.operations[0]?.id, variables },
      { extensions: { persistedQuery: { version: 1, sha256Hash: apollo.operations[0]?.id } }, variables },
      { query: text, variables },
      { query: withTypename, id: 'beside the text', variables },
      { query: text.replace('nodes {', '__typename nodes { __typename'), variables },
    ]) {
      expect([parameters, await send(gw, parameters)]).toEqual([parameters, 'sensors']);
    }
    const got = await gw.fetch(`/graphql?id=${Object.keys(relay)[0]}&variables=${JSON.stringify(variables)}`);
    expect((await got.json()).data.sensors).toBeDefined();
    expect(await send(gw, { id: 'unknown' })).toBe('PERSISTED_QUERY_NOT_FOUND');
    for (const query of [
      text.replace('{ id }', '{ id status }'),
      text.replace('{ id }', '{ a: __typename }'),
    ])
      expect(await send(gw, { query, variables })).toBe('PERSISTED_QUERY_ONLY');
  });

  it('knows a text whose fragments stand in another order than in the manifest', async () => {
    const query = 'query Ordered { sensors(first: 1) { nodes { ...Row } } }';
    const fragment = 'fragment Row on Sensor { id }';
    const path = await file('ordered.json', { a: `${fragment} ${query}` });
    await using gw = await startGateway({
      env: { PERSISTED_OPERATIONS: 'only', PERSISTED_OPERATIONS_FILE: path },
    });
    expect(await send(gw, { query: `${query} ${fragment}` })).toBe('sensors');
    expect(await send(gw, { query: `${query} ${fragment.replace('id', 'status')}` })).toBe(
      'PERSISTED_QUERY_ONLY',
    );
  });

  it('may begin with a byte order mark', async () => {
    const path = join(folder, 'marked.json');
    await writeFile(path, `\uFEFF${JSON.stringify({ a: '{ __typename }' })}`);
    await using gw = await startGateway({
      env: { PERSISTED_OPERATIONS: 'only', PERSISTED_OPERATIONS_FILE: path },
    });
    const got = await gw.fetch('/graphql?id=a');
    expect((await got.json()).data).toEqual({ __typename: 'Query' });
  });

  it('stops the start where it is wrong or without effect, with a line that names it and the file', async () => {
    const cases: [object, RegExp][] = [
      [{ PERSISTED_OPERATIONS_FILE: await file('fine.json', relay) }, /while PERSISTED_OPERATIONS is off/],
      [
        { PERSISTED_OPERATIONS_FILE: join(folder, 'none.json') },
        /none\.json, which cannot be read \(ENOENT\)/,
      ],
      [{ PERSISTED_OPERATIONS_FILE: await file('text.json', 'text') }, /text\.json, which is not JSON/],
      [{ PERSISTED_OPERATIONS_FILE: await file('list.json', []) }, /list\.json, which is neither/],
      [
        { PERSISTED_OPERATIONS_FILE: await file('syntax.json', { a: '{' }) },
        /no GraphQL under a: Syntax Error/,
      ],
      [
        {
          PERSISTED_OPERATIONS_FILE: [
            await file('one.json', { a: '{ a }' }),
            await file('two.json', { a: '{ b }' }),
          ].join(),
        },
        /two\.json, which gives the id a another text/,
      ],
    ];
    for (const [env, message] of cases) {
      const mode = String(message).includes('is off') ? {} : { PERSISTED_OPERATIONS: 'allow' };
      await expect(startGateway({ env: { ...mode, ...env } })).rejects.toThrow(message);
      await expect(startGateway({ env: { ...mode, ...env } })).rejects.toThrow(/^PERSISTED_OPERATIONS_FILE /);
    }
  });
});

describe('a cached answer', () => {
  const names = '{ networks { name } }';
  const codes = '{ networks { code } }';

  it.each([
    ['named by an id that now has another text', 'allow', { documentId: 's1' }, { s1: codes }, /"code"/],
    ['named by an id that is gone', 'only', { documentId: 's1' }, {}, /PERSISTED_QUERY_NOT_FOUND/],
    ['to a text that is gone', 'only', { query: names }, {}, /PERSISTED_QUERY_ONLY/],
  ])('is not served after a reload where it is %s', async (_name, mode, parameters, next, after) => {
    const path = await file('cached.json', { s1: names });
    await using gw = await startGateway({
      isAlone: true,
      env: { ANSWER_CACHE: 'true', PERSISTED_OPERATIONS: mode, PERSISTED_OPERATIONS_FILE: path },
    });
    const ask = async () => {
      const response = await gw.fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(parameters),
      });
      return response.text();
    };
    const cachedAnswers = async () => {
      const metrics = await (await gw.fetch('/metrics')).text();
      return Number(/^seisgraph_cached_answers_total (\d+)/m.exec(metrics)?.[1]);
    };
    for (let times = 0; times < 3; times++) expect(await ask()).toContain('"name"');
    expect(await cachedAnswers()).toBeGreaterThan(0);
    await file('cached.json', next);
    gw.reload();
    expect(await ask()).toMatch(after);
  });
});

describe.each([1, 2])('with %i processes', (workers) => {
  let removeBuild: () => void;
  beforeAll(() => {
    removeBuild = build();
  }, 120_000);
  afterAll(() => removeBuild());

  it('the manifests are read again on SIGHUP, and stay as they were where one is wrong', async () => {
    const path = await file(`changing-${workers}.json`, relay);
    await using gateway = startProcess({
      env: {
        PERSISTED_OPERATIONS: 'only',
        PERSISTED_OPERATIONS_FILE: path,
        WORKERS: String(workers),
      },
    });
    const gw = { url: await gateway.url };
    const first = Object.keys(relay)[0];
    await file(`changing-${workers}.json`, '{');
    gateway.child.kill('SIGHUP');
    await vi.waitFor(() => expect(gateway.stdout).toContain('The persisted operations stay as they were'), {
      timeout: 15_000,
    });
    expect(await send(gw, { id: first })).toBe('sensors');
    await file(`changing-${workers}.json`, { next: '{ __typename }' });
    gateway.child.kill('SIGHUP');
    await vi.waitFor(
      async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => send(gw, { id: 'next' })));
        expect(new Set(answers)).toEqual(new Set(['__typename']));
      },
      { timeout: 15_000 },
    );
    expect(await send(gw, { id: first })).toBe('PERSISTED_QUERY_NOT_FOUND');
  }, 120_000);
});

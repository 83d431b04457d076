import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readOperationFiles } from '../../src/server/execution/operation-files.js';
import { persistedOperations } from '../../src/server/execution/persisted-operations.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const apq = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
const known = 'query Known { gateway: __typename }\n';
const files = [{ name: 'known', text: known, id: sha256(known) }];

async function send(gw: TestGateway, parameters: object) {
  const response = await gw.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  });
  return { status: response.status, ...(await response.json()) };
}

describe('persisted operations', () => {
  it('are those of the manifest that codegen makes', () => {
    const manifest = readFileSync(new URL('../../schema/persisted-operations.json', import.meta.url), 'utf8');
    expect(JSON.parse(manifest)).toEqual(
      Object.fromEntries(readOperationFiles().map(({ id, text }) => [id, text])),
    );
  });

  it('know the ready operations by the hash of their file, and of their printed form', () => {
    const persisted = persistedOperations({ mode: 'allow', files, maxTokens: 100 });
    for (const id of [sha256(known), `sha256:${sha256(known)}`, sha256(print(parse(known)))]) {
      expect(persisted.textFor({ documentId: id })).toBe(known);
      expect(persisted.textFor({ extensions: apq(id.replace('sha256:', '')) })).toBe(known);
    }
  });

  it('with `only`, run what is known, named or spelled out, and nothing else', () => {
    const persisted = persistedOperations({ mode: 'only', files, maxTokens: 100 });
    const respelled = 'query Known{gateway:__typename}';
    expect(persisted.textFor({ query: known })).toBe(known);
    expect(persisted.textFor({ query: respelled })).toBe(respelled);
    for (const query of ['{ __typename }', `${known} query B { __typename }`, '{', 'x '.repeat(200)]) {
      expect(() => persisted.textFor({ query })).toThrow('Only persisted operations');
      expect(() => persisted.textFor({ query, extensions: apq(sha256(query)) })).toThrow('Only persisted');
    }
    expect(() => persisted.textFor({ extensions: apq(sha256('x')) })).toThrow('PersistedQueryNotFound');
  });

  it('answer a ready operation by its id over HTTP, POST and GET', async () => {
    await using gw = await startGateway({ env: { PERSISTED_OPERATIONS: 'only' } });
    const [file] = readOperationFiles().filter(({ text }) => text.includes('gateway'));
    if (!file) throw new Error('No operation asks for the gateway');
    const posted = await send(gw, { documentId: `sha256:${file.id}` });
    expect(posted.errors).toBeUndefined();
    expect(posted.data.gateway).toBeDefined();
    const got = await gw.fetch(`/graphql?documentId=${file.id}`);
    expect((await got.json()).data.gateway).toBeDefined();
    const other = await send(gw, { query: '{ __typename }' });
    expect([other.status, other.errors[0].extensions.code]).toEqual([200, 'PERSISTED_QUERY_ONLY']);
    expect(other.data).toBeUndefined();
  });

  it('with `allow`, register what clients send with its hash (automatic persisted queries)', async () => {
    // Each process registers by itself: a client that meets another is told so, and sends the text once more.
    await using gw = await startGateway({ env: { PERSISTED_OPERATIONS: 'allow' }, isAlone: true });
    const query = 'query Mine { __typename }';
    const extensions = apq(sha256(query));
    const first = await send(gw, { extensions });
    expect(first.errors[0]).toMatchObject({
      message: 'PersistedQueryNotFound',
      extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' },
    });
    expect(await send(gw, { query, extensions })).toMatchObject({ data: { __typename: 'Query' } });
    expect(await send(gw, { extensions })).toMatchObject({ data: { __typename: 'Query' } });
    const got = await gw.fetch(`/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`);
    expect(await got.json()).toEqual({ data: { __typename: 'Query' } });
    const wrong = await send(gw, { query: '{ __typename }', extensions });
    expect([wrong.status, wrong.errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
  });

  it('when off, say so in the way that clients fall back from', async () => {
    await using gw = await startGateway();
    const query = '{ __typename }';
    const refused = await send(gw, { extensions: apq(sha256(query)) });
    expect(refused.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_SUPPORTED');
    expect(await send(gw, { query, extensions: apq(sha256(query)) })).toMatchObject({
      data: { __typename: 'Query' },
    });
  });

  it.each([{ documentId: 'nonsense' }, { extensions: apq('abc') }, { documentId: '../../etc/passwd' }])(
    'refuse an id that is none: %o',
    async (parameters) => {
      await using gw = await startGateway({ env: { PERSISTED_OPERATIONS: 'allow' } });
      const answer = await send(gw, parameters);
      expect([answer.status, answer.errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );
});

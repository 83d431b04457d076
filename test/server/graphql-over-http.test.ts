import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

let gw: TestGateway;
beforeAll(async () => {
  gw = await startGateway();
});
afterAll(() => gw.close());

describe('the GraphQL-over-HTTP audit', () => {
  const audits = serverAudits({ url: () => `${gw.url}/graphql`, fetchFn: fetch });
  it.each(audits.map((audit) => [`${audit.id} ${audit.name}`, audit] as const))('%s', async (_, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : result.reason).toBe('ok');
  });
});

describe('POST and GET', () => {
  const json = { 'content-type': 'application/json' };

  it('answer the same, whatever the parameters come in', async () => {
    const query = 'query Named($skip: Boolean!) { __typename @skip(if: $skip) }';
    const search = new URLSearchParams({
      query,
      operationName: 'Named',
      variables: JSON.stringify({ skip: false }),
    });
    const got = await gw.fetch(`/graphql?${search}`);
    const posted = await gw.fetch('/graphql', {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query, operationName: 'Named', variables: { skip: false } }),
    });
    expect(await got.json()).toEqual({ data: { __typename: 'Query' } });
    expect(await posted.json()).toEqual({ data: { __typename: 'Query' } });
  });

  it.each([
    { operationName: '' },
    { operationName: null },
    { variables: '' },
    { variables: null },
    { extensions: '' },
    { extensions: null },
    { documentId: '' },
    { documentId: null },
  ])('take an empty parameter for none, over a socket too: %j', async (empty) => {
    // A feed that is listened to goes on for a while.
    await using own = await startGateway();
    const [query, feed] = ['{ __typename }', 'subscription { triggerChanges { kind } }'];
    const body = (text: string) => ({
      method: 'POST',
      headers: { ...json, accept: text === feed ? 'text/event-stream' : 'application/json' },
      body: JSON.stringify({ query: text, ...empty }),
    });
    const data = { data: { __typename: 'Query' } };
    expect(await (await own.fetch('/graphql', body(query))).json()).toEqual(data);
    const inUrl = Object.fromEntries(Object.entries(empty).map(([name, value]) => [name, value ?? '']));
    const search = new URLSearchParams({ query, ...inUrl });
    expect(await (await own.fetch(`/graphql?${search}`)).json()).toEqual(data);
    const stream = await own.fetch('/graphql', body(feed));
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await stream.body?.cancel();
    await using socket = await openSocket(own, { init: {} });
    socket.send({ id: '1', type: 'subscribe', payload: { query, ...empty } });
    expect(await socket.next()).toMatchObject({ type: 'next', payload: data });
  });

  it.each([null, 'a1b2', 7])('take the id that Relay sends beside the query: %j', async (id) => {
    await using own = await startGateway();
    const post = (query: string, accept: string) =>
      own.fetch('/graphql', {
        method: 'POST',
        headers: { ...json, accept },
        body: JSON.stringify({ id, query, variables: {} }),
      });
    const answer = await post('{ __typename }', 'application/json');
    expect([answer.status, await answer.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
    const stream = await post('subscription { triggerChanges { kind } }', 'text/event-stream');
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await stream.body?.cancel();
    await using socket = await openSocket(own, { init: {} });
    socket.send({ id: '1', type: 'subscribe', payload: { id, query: '{ __typename }' } });
    expect(await socket.next()).toMatchObject({ type: 'next', payload: { data: { __typename: 'Query' } } });
  });

  it.each([
    'application/json',
    '*/*',
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9',
    'text/event-stream',
  ])('answer at length in pieces, the same as ever: %s', async (accept) => {
    // Each is computed: an answer that is cached is sent at once.
    const query = `{ __schema { types { name description fields { name description type { name } } } } } # ${accept}`;
    const response = await gw.fetch('/graphql', {
      method: 'POST',
      headers: { ...json, accept },
      body: JSON.stringify({ query }),
    });
    const isStream = accept === 'text/event-stream';
    expect(response.headers.get('content-type')).toMatch(isStream ? accept : /^application\/.*json/);
    // Nobody waits for the last piece before the first one is sent.
    expect(response.headers.get('content-length')).toBeNull();
    const text = await response.text();
    const answer = JSON.parse(isStream ? (/^data: (\{.*)$/m.exec(text)?.[1] ?? '') : text);
    expect(answer).toEqual({ data: await gw.query(query) });
  });

  it('refuse a content type that a form can send', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const response = await gw.fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{"query":"{__typename}"}',
      });
      expect([type, response.status]).toEqual([type, 415]);
      expect((await response.json()).errors[0].extensions.code).toBe('BAD_REQUEST');
    }
    const without = await gw.fetch('/graphql', { method: 'POST', body: new Uint8Array([123, 125]) });
    expect(without.status).toBe(415);
  });

  it.each(['PUT', 'DELETE', 'PATCH'])('leave %s to others, and say so', async (method) => {
    const response = await gw.fetch('/graphql', { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  it('refuse batches', async () => {
    const response = await gw.fetch('/graphql', {
      method: 'POST',
      headers: json,
      body: JSON.stringify([{ query: '{__typename}' }, { query: '{__typename}' }]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
  });

  it.each([
    ['variables that are not JSON', '/graphql?query={__typename}&variables={'],
    ['extensions that are not JSON', '/graphql?query={__typename}&extensions=['],
    ['no query', '/graphql'],
    ['variables that are a list', '/graphql?query={__typename}&variables=[1]'],
  ])('say 400 to %s', async (_, path) => {
    const response = await gw.fetch(path, { headers: { accept: 'application/json' } });
    expect(response.status).toBe(400);
    expect((await response.json()).errors[0].extensions.code).toBe('BAD_REQUEST');
  });

  it('refuse a body over MAX_BODY_BYTES, announced or not', async () => {
    const body = JSON.stringify({ query: `{ __typename } #${'x'.repeat(300_000)}` });
    const announced = await gw.fetch('/graphql', { method: 'POST', headers: json, body });
    expect(announced.status).toBe(413);
    expect((await announced.json()).errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
    const chunked = await gw.fetch('/graphql', {
      method: 'POST',
      headers: json,
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
    expect((await chunked.json()).errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX');
  });

  it.each(['', null])('say that there is no query where it is %j', async (query) => {
    const response = await gw.fetch('/graphql', {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query }),
    });
    expect(response.status).toBe(400);
    expect((await response.json()).errors[0]).toMatchObject({
      message: 'Must provide query string.',
      extensions: { code: 'BAD_REQUEST' },
    });
  });

  it('give every error a code, also what graphql itself refuses', async () => {
    const cases: [string, object | undefined, string][] = [
      ['{', undefined, 'GRAPHQL_PARSE_FAILED'],
      ['{ nothingOfThisName }', undefined, 'GRAPHQL_VALIDATION_FAILED'],
      ['mutation { x }', undefined, 'GRAPHQL_VALIDATION_FAILED'],
      ['query ($n: Int!) { triggers(first: $n) { nodes { id } } }', { n: 'three' }, 'BAD_USER_INPUT'],
      ['query A { __typename } query B { __typename }', undefined, 'OPERATION_RESOLUTION_FAILURE'],
    ];
    for (const [document, variables, code] of cases) {
      const { errors, data } = await gw.queryWithErrors(document, variables);
      expect([document, errors?.map(({ extensions }) => extensions.code)]).toEqual([document, [code]]);
      expect(data).toBeUndefined();
    }
  });

  it('say 4xx without data only to those who asked for the newer media type', async () => {
    const send = (accept: string) =>
      gw.fetch('/graphql', {
        method: 'POST',
        headers: { ...json, accept },
        body: JSON.stringify({ query: `{ ${'a: __typename '.repeat(3000)} }` }),
      });
    const older = await send('application/json');
    const newer = await send('application/graphql-response+json');
    expect([older.status, newer.status]).toEqual([200, 400]);
    for (const response of [older, newer]) {
      expect((await response.json()).errors[0].extensions).toEqual({ code: 'QUERY_TOO_COMPLEX' });
    }
  });

  it.each(['application/json', 'application/graphql-response+json', 'application/json, multipart/mixed'])(
    'say to a subscription that takes %s alone what it must take',
    async (accept) => {
      const query = 'subscription { triggerChanges { cursor } }';
      const responses = [
        await gw.fetch('/graphql', {
          method: 'POST',
          headers: { ...json, accept },
          body: JSON.stringify({ query }),
        }),
        await gw.fetch(`/graphql?query=${encodeURIComponent(query)}`, { headers: { accept } }),
      ];
      for (const response of responses) {
        expect(response.status).toBe(406);
        expect(response.headers.get('content-type')).toMatch(accept.replace(/[+,].*/, ''));
        const [error] = (await response.json()).errors;
        expect(error.message).toMatch(/`Accept: text\/event-stream`.*WebSocket/);
        expect(error.extensions).toEqual({ code: 'BAD_REQUEST' });
      }
      const { gateway } = await gw.query('{ gateway { feeds { active subscriberCount } } }');
      for (const feed of gateway.feeds) expect(feed).toEqual({ active: false, subscriberCount: 0 });
    },
  );

  it('say to who takes nothing that there is what there is', async () => {
    for (const query of ['{ __typename }', 'subscription { triggerChanges { cursor } }']) {
      const path = `/graphql?query=${encodeURIComponent(query)}`;
      const response = await gw.fetch(path, { headers: { accept: 'image/png' } });
      expect(response.status).toBe(406);
      const [error] = (await response.json()).errors;
      expect(error.message).toContain('text/event-stream');
      expect(error.extensions).toEqual({ code: 'BAD_REQUEST' });
    }
  });

  it('answer for no path but their own', async () => {
    for (const path of [
      '/graphql/',
      '/graphql/x',
      '/x/graphql',
      '/anything/health',
      '/health/',
      '/ready/x',
      '/x',
    ]) {
      const response = await gw.fetch(path, { redirect: 'manual' });
      expect([path, response.status]).toEqual([path, 404]);
      expect((await response.json()).errors[0].extensions.code).toBe('NOT_FOUND');
    }
    const root = await gw.fetch('/', { redirect: 'manual' });
    expect([root.status, root.headers.get('location')]).toEqual([302, './graphql']);
  });

  it('tell what an operation cost when asked to', async () => {
    const with1 = await gw.queryWithErrors('{ __typename }', {}, { headers: { 'x-upstream-cost': '1' } });
    expect(with1.extensions).toEqual({
      upstream: { requests: 0, cacheHits: 0, staleHits: 0, waitedMs: 0, oldestAgeS: 0 },
    });
    expect((await gw.queryWithErrors('{ __typename }')).extensions).toBeUndefined();
  });
});

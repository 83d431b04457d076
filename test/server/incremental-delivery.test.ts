import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { merged, openParts, type Payload } from '../support/parts.js';
import { openSocket } from '../support/raw-socket.js';

let gw: TestGateway;
beforeAll(async () => {
  gw = await startGateway({
    sandbox: { rateLimits: false },
    env: { PROJECT_RATE_PER_MINUTE: '60000', PROJECT_RATE_BURST: '1000', CATALOGUE_TIER: 'premium' },
  });
});
afterAll(() => gw.close());

const events = 'text/event-stream';

/** Documents in which the directives stand wherever they can. */
const documents: Record<string, string> = {
  'a fragment of the root':
    '{ project { name } ... @defer(label: "a") { sensors(first: 3) { nodes { stationCode } } } }',
  'all of it': '{ ... @defer { sensors(first: 3) { nodes { stationCode } } project { name } } }',
  'a fragment of each item': `{ sensors(first: 4) { nodes { stationCode ... @defer(label: "h") {
    locationCode latestHealthReport { timestamp batteryVolts } network { name code } } } } }`,
  'named fragments, spread with and without': `{ sensors(first: 3) { nodes { ...Names ...Names @defer(label: "n") ...More @defer } totalCount } }
    fragment Names on Sensor { stationCode model } fragment More on Sensor { ...Names location { latitude longitude } }`,
  'fragments within fragments': `{ triggers(first: 3) { nodes { triggerId ... @defer(label: "one") {
    sensor { stationCode ... @defer(label: "two") { network { networkId ... @defer(label: "three") { name } } } } } } } }`,
  'a list':
    '{ triggers(first: 6) { nodes @stream(initialCount: 2, label: "t") { triggerId startTime } pageInfo { endCursor } } }',
  'a list within a list': `{ sensors(first: 3) { nodes @stream { stationCode healthReports(first: 3) { nodes @stream(initialCount: 1) { timestamp } } } } }`,
  'a list with deferred parts of its items': `{ events(first: 4) { nodes @stream(initialCount: 1) { magnitude ... @defer { place
    recordings(first: 2) { distanceKm } } } } }`,
  'an interface':
    '{ nodes(ids: $ids) @stream(initialCount: 1) { id ... on Sensor @defer { stationCode status } } }',
};

async function idsOfSensors(): Promise<string[]> {
  const { sensors } = await gw.query('{ sensors(first: 3) { nodes { id } } }');
  return sensors.nodes.map(({ id }: { id: string }) => id);
}

async function asked(document: string) {
  if (!document.includes('$ids')) return { query: document, variables: {} };
  return { query: `query ($ids: [ID!]!) ${document}`, variables: { ids: await idsOfSensors() } };
}

const withoutDirectives = (document: string) => document.replace(/@(defer|stream)(\([^)]*\))?/g, '');

/** Each way of asking returns the payloads of the answer. */
const ways: Record<string, (query: string, variables?: object) => Promise<Payload[]>> = {
  'multipart HTTP': async (query, variables = {}) => (await openParts(gw, query, { variables })).rest(),
  'server-sent events': async (query, variables = {}) =>
    (await openParts(gw, query, { variables, accept: events })).rest(),
  async WebSocket(query, variables = {}) {
    await using socket = await openSocket(gw, { init: {} });
    socket.send({ id: '1', type: 'subscribe', payload: { query, variables } });
    const payloads: Payload[] = [];
    for (let message = await socket.next(); message.type !== 'complete'; message = await socket.next()) {
      expect(message.type).toBe('next');
      payloads.push(message.payload);
    }
    return payloads;
  },
};

describe.each(Object.entries(ways))('over %s', (_, payloadsOf) => {
  it.each(Object.entries(documents))(
    '%s, deferred or streamed: all parts together are the whole answer',
    async (_name, document) => {
      const { query, variables } = await asked(document);
      const whole = await gw.queryWithErrors(withoutDirectives(query), variables);
      expect(whole.errors).toBeUndefined();
      const payloads = await payloadsOf(query, variables);
      expect(payloads.length).toBeGreaterThan(1);
      expect(payloads.map(({ hasNext }) => hasNext)).toEqual(
        payloads.map((_payload, index) => index < payloads.length - 1),
      );
      expect(merged(payloads)).toEqual(whole.data);
      expect(merged(payloads.slice(0, 1))).not.toEqual(whole.data);
    },
  );

  it('labels its parts', async () => {
    const { first, parts } = await labelled(payloadsOf);
    expect(first).toEqual({ data: { project: { name: 'Sandbox network' } }, hasNext: true });
    expect(parts).toMatchObject([{ label: 'names', path: [], data: { sensors: { nodes: [{}, {}] } } }]);
  });
});

async function labelled(payloadsOf: (query: string) => Promise<Payload[]>) {
  const [first, ...rest] = await payloadsOf(
    '{ project { name } ... @defer(label: "names") { sensors(first: 2) { nodes { stationCode } } } }',
  );
  return { first, parts: rest.flatMap(({ incremental }) => incremental) };
}

describe('an answer in parts', () => {
  it('has the cost so far in each payload', async () => {
    const headers = { 'x-upstream-cost': '1' };
    const payloads = await (
      await openParts(gw, documents['a fragment of each item'] ?? '', { headers })
    ).rest();
    const costs = payloads.map(
      ({ extensions }) => extensions.upstream.requests + extensions.upstream.cacheHits,
    );
    expect(costs).toEqual(costs.toSorted((one, other) => one - other));
    expect(costs.at(-1)).toBeGreaterThan(0);
  });

  it('reaches Apollo Client part by part', async () => {
    const client = new ApolloClient({
      link: new HttpLink({ uri: `${gw.url}/graphql` }),
      cache: new InMemoryCache(),
      incrementalHandler: new Defer20220824Handler(),
    });
    const shown: Payload[] = [];
    const query = gql`{ sensors(first: 2) { nodes { id stationCode ... @defer(label: "h") { latestHealthReport { timestamp } } } } }`;
    await new Promise<void>((resolve, reject) => {
      const subscription = client.watchQuery({ query }).subscribe({
        next({ data, dataState }) {
          if (data) shown.push(structuredClone(data));
          if (dataState !== 'complete') return;
          resolve();
          setImmediate(() => subscription.unsubscribe());
        },
        error: reject,
      });
    });
    expect(shown.length).toBeGreaterThan(1);
    expect(shown[0].sensors.nodes[0]).not.toHaveProperty('latestHealthReport');
    const { sensors } = await gw.query(
      '{ sensors(first: 2) { nodes { id stationCode latestHealthReport { timestamp } } } }',
    );
    expect(shown.at(-1).sensors.nodes).toMatchObject(sensors.nodes);
    client.stop();
  });

  it('keeps errors at their path and with their code', async () => {
    await using own = await startGateway({ env: { UPSTREAM_MAX_WAIT_MS: '0' } });
    const query = '{ project { name } ... @defer { sensors(first: 1000) { nodes { stationCode } } } }';
    const [first, part] = await (await openParts(own, query)).rest();
    expect(first.errors).toBeUndefined();
    expect(part.incremental[0].errors).toMatchObject([
      { path: ['sensors'], extensions: { code: 'BAD_USER_INPUT', argument: 'first' } },
    ]);
    own.sandbox.faults.add({ source: 'project', status: 403, body: '{}', times: 10 });
    const deferred = '{ __typename ... @defer { triggers(first: 1) { nodes { triggerId } } } }';
    const [, refused] = await (await openParts(own, deferred)).rest();
    expect(refused.incremental[0]).toMatchObject({
      path: [],
      data: { triggers: null },
      errors: [{ path: ['triggers'], extensions: { code: 'FORBIDDEN' } }],
    });
  });

  it.each([
    ['takes JSON alone', 'application/json'],
    ['takes anything', '*/*'],
    ['takes parts of another specification', 'multipart/mixed;incrementalSpec=v0.2, application/json'],
    ['takes parts of subscriptions alone', 'multipart/mixed;subscriptionSpec="1.0", application/json'],
    ['prefers JSON by its weights', 'application/json, multipart/mixed;q=0.5'],
  ])('is none for a client that %s: it gets the answer whole', async (_, accept) => {
    for (const document of Object.values(documents)) {
      const { query, variables } = await asked(document);
      const response = await gw.fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query, variables }),
      });
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const { data } = await gw.queryWithErrors(withoutDirectives(query), variables);
      expect(await response.json()).toEqual({ data });
    }
  });

  it('is never cached as a whole, nor answered from a cached one', async () => {
    const query = '{ sensors(first: 2) { nodes { stationCode ... @defer { model } } } }';
    const read = async (accept: string) => {
      const response = await gw.fetch(`/graphql?${new URLSearchParams({ query })}`, { headers: { accept } });
      await response.text();
      return response.headers.get('cache-control');
    };
    for (let round = 0; round < 3; round++) {
      expect(await read('application/json')).toBe('no-store');
      expect((await openParts(gw, query)).response.headers.get('content-type')).toMatch(/^multipart/);
      expect(await read(events)).toMatch(/^no-store/);
    }
  });

  it('comes whole where it would have too many parts', async () => {
    const parts = (first: number) =>
      openParts(
        gw,
        `{ triggers(first: ${first}) { nodes { triggerId ... @defer { startTime } a: sensor { ... @defer { model } } ... @defer { endTime } } } }`,
      );
    const few = await parts(10);
    expect(few.response.headers.get('content-type')).toMatch(/^multipart/);
    await few.rest();
    const many = await parts(400);
    expect(many.response.headers.get('content-type')).toMatch(/json/);
    expect(((await many.response.json()) as Payload).data.triggers.nodes[0]).toHaveProperty('startTime');
  });

  it('by HEAD has the headers alone', async () => {
    const query = documents.all ?? '{ ... @defer { project { name } } }';
    const head = await gw.fetch(`/graphql?${new URLSearchParams({ query })}`, {
      method: 'HEAD',
      headers: { accept: 'multipart/mixed' },
    });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      'multipart/mixed; boundary="-"; deferSpec=20220824',
      '',
    ]);
  });

  it('with one part alone goes to a client that takes nothing but parts', async () => {
    const { response, rest } = await openParts(gw, '{ project { name } }', { accept: 'multipart/mixed' });
    expect(response.status).toBe(200);
    expect(await rest()).toEqual([{ data: { project: { name: 'Sandbox network' } } }]);
  });
});

describe('wrong use', () => {
  const errorsOf = async (query: string, variables: object = {}) => {
    const { response } = await openParts(gw, query, { variables });
    expect(response.headers.get('content-type')).toMatch(/json/);
    return { status: response.status, ...((await response.json()) as Payload) };
  };

  it.each([
    [
      'a label that is a variable',
      'query ($l: String) { ... @defer(label: $l) { project { name } } }',
      /has to be a text/,
    ],
    [
      'a label twice',
      '{ ... @defer(label: "a") { project { name } } ... @defer(label: "a") { sensors { totalCount } } }',
      /used twice/,
    ],
    ['a stream of what is no list', '{ project @stream { name } }', /`project` is none/],
    ['a deferred field', '{ project @defer { name } }', /may not be used on FIELD/],
    [
      'no number of first items',
      '{ sensors { nodes @stream(initialCount: null) { model } } }',
      /non-null|null/,
    ],
  ])('%s is refused by validation', async (_, query, message) => {
    const { status, errors } = await errorsOf(query);
    expect(status).toBe(400);
    expect(errors).toMatchObject([{ message: expect.stringMatching(message) }]);
    expect(['GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']).toContain(errors[0].extensions.code);
  });

  it.each([
    ['below 0', 'query { sensors { nodes @stream(initialCount: -1) { model } } }', {}],
    [
      'below 0 by a variable',
      'query ($n: Int!) { sensors { nodes @stream(initialCount: $n) { model } } }',
      { n: -1 },
    ],
    [
      'that is null',
      'query ($n: Int) { sensors { nodes @stream(initialCount: $n) { model } } }',
      { n: null },
    ],
    [
      'of a condition that is null',
      'query ($n: Boolean) { ... @defer(if: $n) { sensors { totalCount } } }',
      { n: null },
    ],
  ])('a number of first items %s is BAD_USER_INPUT', async (_, query, variables) => {
    const { errors } = await errorsOf(query, variables);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it.each([
    [
      'other arguments',
      '{ sensors { nodes @stream(initialCount: 1) { id } nodes @stream(initialCount: 2) { model } } }',
    ],
    ['none at all', '{ sensors { nodes @stream { id } nodes { model } } }'],
    [
      'another condition in a fragment',
      'query ($a: Boolean!) { sensors { nodes @stream { id } ...f } } fragment f on SensorConnection { nodes @stream(if: $a) { model } }',
    ],
    [
      'other arguments below',
      '{ sensors { nodes { triggers { nodes @stream { id } } } } ... { sensors { nodes { triggers { nodes @stream(initialCount: 2) { id } } } } } }',
    ],
  ])('a list is streamed in one way, and not beside %s', async (_, query) => {
    const { errors } = await errorsOf(query, { a: true });
    expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
    expect(errors[0].message).toContain('they have differing stream directives. Use different aliases');
  });

  it('a list may be streamed twice in the same way, and in two ways by two names', async () => {
    const { response } = await openParts(
      gw,
      `{
        sensors { nodes @stream(initialCount: 1, if: true) { id } nodes @stream(if: true, initialCount: 1) { model } }
        others: sensors { nodes { id } }
      }`,
    );
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('"errors"');
  });

  it('counts deferred fragments for the limits of depth, aliases and cost', async () => {
    const aliases = Array.from({ length: 31 }, (_, index) => `a${index}: __typename`).join(' ');
    const cases = [
      `{ ... @defer { ${aliases} } }`,
      '{ ... @defer { triggers(first: 500) { nodes { sensor { locationCode } } } } }',
      `{ ... @defer { ${'sensors { nodes { network { '.repeat(8)} __typename ${'} } }'.repeat(8)} } }`,
    ];
    for (const query of cases) {
      expect((await errorsOf(query)).errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX' } }]);
    }
  });
});

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnswerError, startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

let gw: TestGateway;
beforeAll(async () => {
  gw = await startGateway();
});
afterAll(() => gw.close());

type Refused = (body: string) => Promise<readonly AnswerError[]>;

/** Errors of a request with this body, by each way that an operation can come; the HTTP status is a client's fault. */
const transports: readonly [string, Refused][] = [
  ['HTTP', posted('application/graphql-response+json')],
  ['event streams', posted('text/event-stream')],
  ['a WebSocket', overSocket],
];

function posted(accept: string): Refused {
  return async (body) => {
    const headers = { 'content-type': 'application/json', accept };
    const response = await gw.fetch('/graphql', { method: 'POST', headers, body });
    const text = await response.text();
    expect(response.status).toBeLessThan(500);
    const event = /^data: (.*)$/m.exec(text)?.[1];
    return JSON.parse(event ?? text).errors ?? [];
  };
}

async function overSocket(body: string): Promise<readonly AnswerError[]> {
  await using socket = await openSocket(gw, { init: {} });
  // As text: JSON.stringify could not write the deepest of these.
  socket.socket.send(`{"id":"1","type":"subscribe","payload":${body}}`);
  const answer = await socket.next();
  return (answer.type === 'error' ? answer.payload : answer.payload?.errors) ?? [];
}

const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');
const asked = (query: string, variables: object = {}) => JSON.stringify({ query, variables });
const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`;
const idsIn = (value: string) =>
  `{"query":"query ($ids: [ID!]!) { nodes(ids: $ids) { id } }","variables":{"ids":${value}}}`;

const hostile: [string, string, string, RegExp][] = [
  [
    '120 fragments, each of which spreads the next five',
    asked(
      `{ ...F0 } ${times(120, (n) => `fragment F${n} on Query { ${times(5, (next) => `...F${(n + next + 1) % 120}`)} }`)}`,
    ),
    'QUERY_TOO_COMPLEX',
    /fragments unfolded .* over 2000 fields/,
  ],
  [
    'fragments in a circle that nothing spreads',
    asked(`{ __typename } ${times(50, (n) => `fragment F${n} on Query { ...F${(n + 1) % 50} ...F${n} }`)}`),
    'GRAPHQL_VALIDATION_FAILED',
    /within itself/,
  ],
  ['a field 1,000 times', asked(`{ ${times(1_000, () => '__typename')} }`), 'QUERY_TOO_COMPLEX', /repeats/],
  ['500 unknown fragments', asked(`{ ${times(500, (n) => `...U${n}`)} }`), 'QUERY_TOO_COMPLEX', /100 errors/],
  ['500 unknown fields', asked(`{ ${times(500, (n) => `u${n}`)} }`), 'QUERY_TOO_COMPLEX', /100 errors/],
  [
    '400 variables that nothing uses',
    asked(`query (${times(400, (n) => `$v${n}: Int`)}) { __typename }`),
    'QUERY_TOO_COMPLEX',
    /100 errors/,
  ],
  [
    '400 unknown arguments',
    asked(`{ sensors(${times(400, (n) => `a${n}: 1`)}) { nodes { id } } }`),
    'QUERY_TOO_COMPLEX',
    /100 errors/,
  ],
  ['600 directives', asked(`{ __typename ${times(600, () => '@no')} }`), 'QUERY_TOO_COMPLEX', /directives/],
  [
    'a list in a list 900 deep',
    asked(`{ nodes(ids: ${nested(900, '[', ']')}) { id } }`),
    'BAD_USER_INPUT',
    /cannot represent/,
  ],
  [
    'a variable of 20,000 ids',
    idsIn(JSON.stringify(Array(20_000).fill('x'))),
    'BAD_USER_INPUT',
    /20000 ids; at most 500/,
  ],
  [
    'a variable of 20,000 wrong ids',
    idsIn(JSON.stringify(Array(20_000).fill({}))),
    'BAD_USER_INPUT',
    /cannot represent/,
  ],
];

describe.each(transports)('over %s the client is told', (_, refused) => {
  it.each(hostile)('%s', async (_, body, code, message) => {
    const errors = await refused(body);
    expect(errors[0]?.extensions.code).toBe(code);
    expect(errors[0]?.message).toMatch(message);
    expect(JSON.stringify(errors)).not.toMatch(/aborted/i);
    expect(faults()).toEqual([]);
  });

  it('a variable that is nested 100,000 deep', async () => {
    const errors = await refused(idsIn(nested(100_000, '[', ']')));
    expect(errors[0]?.extensions.code).toBeOneOf(['BAD_USER_INPUT', 'QUERY_TOO_COMPLEX']);
    expect(faults()).toEqual([]);
  });

  it('whatever a document repeats, nests and spreads', async () => {
    await fc.assert(
      fc.asyncProperty(hostileBody, async (body) => {
        for (const { message, extensions } of await refused(body)) {
          expect(extensions.code).toBeOneOf(clientCodes);
          expect(message).not.toMatch(/aborted/i);
        }
        expect(faults()).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('where MAX_TOKENS allows for more than the stack does', () => {
  it.each([
    ['selections', `${nested(50_000, '{ a ', '}').replace('1', '{ a }')}`],
    ['values', `{ nodes(ids: ${nested(50_000, '[', ']')}) { id } }`],
    ['fragments', `{ ...F0 } ${times(50_000, (n) => `fragment F${n} on Query { ...F${n + 1} }`)}`],
  ])('%s that exhaust it are too complex', async (_, query) => {
    await using wide = await startGateway({ env: { MAX_TOKENS: '1000000', MAX_BODY_BYTES: '8 MiB' } });
    const { errors } = await wide.queryWithErrors(query);
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'QUERY_TOO_COMPLEX' }]);
    expect(wide.logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

const faults = () => gw.logLines.filter(({ level }) => level === 'error');

const clientCodes = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
  'BAD_REQUEST',
  'QUERY_TOO_COMPLEX',
];

const longestText = 100_000;

/** Selections that are repeated, nested in each other, and put in fragments that spread any others. */
const hostileBody: fc.Arbitrary<string> = fc
  .letrec<{ selection: string }>((tie) => ({
    selection: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom('__typename', '__schema { types { name } }', 'u', 'project { u }', '...', '@include'),
      fc.nat(12).map((n) => `...F${n}`),
      fc.tuple(fc.integer({ min: 1, max: 400 }), tie('selection')).map(([n, text]) => {
        // Repeated within each other they would be longer than any body that is read, and than a string can be.
        return `${text} `.repeat(Math.min(n, Math.ceil(longestText / text.length)));
      }),
      tie('selection').map((text) => `... on Query @skip(if: false) { ${text} }`),
      tie('selection').map(
        (text) => `sensors(first: $v, first: ${nested(40, '{a: ', '}')}) { nodes { ${text} } }`,
      ),
      tie('selection').map((text) => `a: node(id: $v) { ${text} }`),
    ),
  }))
  .selection.chain((selection) =>
    fc
      .tuple(
        fc.array(fc.tuple(fc.nat(12), fc.array(fc.nat(12), { maxLength: 6 })), { maxLength: 30 }),
        fc.constantFrom('1', 'null', '{}', '"x"', nested(5_000, '[', ']')),
        fc.constantFrom('Int', '[ID!]!', 'Query', 'No', nested(300, '[', ']')),
      )
      .map(([fragments, value, type]) => {
        const defined = fragments.map(
          ([n, spread]) => `fragment F${n} on Query { ${spread.map((other) => `...F${other}`).join(' ')} u }`,
        );
        const query = `query ($v: ${type}) { ${selection} } ${defined.join(' ')}`.slice(0, 100_000);
        return `{"query":${JSON.stringify(query)},"variables":{"v":${value}}}`;
      }),
  );

import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { deviceId, worldOf } from './sensors-world.js';

let gw: TestGateway;
beforeAll(async () => {
  gw = await startGateway({ sandbox: { world: worldOf(3) }, env: { MAX_COST: '2000' } });
});
afterAll(() => gw.close());

const globalId = (key: string) => Buffer.from(`Sensor:${key}`).toString('base64url');
const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } project { name } }';
const [first, second] = [globalId(deviceId(1)), globalId(deviceId(2))];

it.each(['bad', '', 'UHJvamVjdA', Buffer.from('Foo:1').toString('base64url')])(
  'an id that is none costs its own place alone: %j',
  async (bad) => {
    const { data, errors } = await gw.queryWithErrors(query, { ids: [first, bad, second, bad] });
    expect(data.nodes).toEqual([{ id: first }, null, { id: second }, null]);
    expect(data.project.name).toEqual(expect.any(String));
    expect(errors?.map(({ path, extensions }) => [path, extensions])).toEqual([
      [['nodes', 1], { code: 'BAD_USER_INPUT', argument: 'ids' }],
      [['nodes', 3], { code: 'BAD_USER_INPUT', argument: 'ids' }],
    ]);
  },
);

it('more than 500 ids are refused by name, 500 are answered', async () => {
  const many = await gw.queryWithErrors(query, { ids: Array(501).fill(first) });
  expect(many.errors?.[0]).toMatchObject({
    message: expect.stringContaining('at most 500'),
    extensions: { code: 'BAD_USER_INPUT', argument: 'ids' },
  });
  expect((await gw.query(query, { ids: Array(500).fill(first) })).nodes).toHaveLength(500);
});

it('an id of another argument is named by that argument', async () => {
  const { errors } = await gw.queryWithErrors('{ sensor(by: { id: "bad" }) { id } }');
  expect(errors?.[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT', argument: 'by.id' });
});

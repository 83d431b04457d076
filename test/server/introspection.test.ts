import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';

it('tells the schema by default, and helps with a wrong name', async () => {
  await using gw = await startGateway();
  const { __schema } = await gw.query('{ __schema { queryType { name } } }');
  expect(__schema.queryType.name).toBe('Query');
  const { errors } = await gw.queryWithErrors('{ triggerz { totalCount } }');
  expect(errors?.[0]?.message).toContain('Did you mean');
});

it('tells nothing of the schema with INTROSPECTION=false, nor helps to guess it', async () => {
  await using gw = await startGateway({ env: { INTROSPECTION: 'false' } });
  for (const document of ['{ __schema { types { name } } }', '{ __type(name: "Query") { name } }']) {
    const { errors, data } = await gw.queryWithErrors(document);
    expect(errors?.[0]?.message).toContain('introspection has been disabled');
    expect(data).toBeUndefined();
  }
  const guesses = [
    ['{ triggerz { totalCount } }', undefined],
    ['{ triggers { nodez { id } } }', undefined],
    ['{ triggers(firzt: 1) { totalCount } }', undefined],
    ['{ triggers }', undefined],
    ['{ triggers(orderBy: START_TIME_DES) { totalCount } }', undefined],
    ['query ($by: TriggerOrder!) { triggers(orderBy: $by) { totalCount } }', { by: 'START_TIME_DES' }],
    ['query ($f: TriggerFilter) { triggers(filter: $f) { totalCount } }', { f: { deviceIdd: 'x' } }],
    ['query ($f: TriggerFilterr) { triggers(filter: $f) { totalCount } }', undefined],
  ] as const;
  for (const [document, variables] of guesses) {
    const { errors } = await gw.queryWithErrors(document, variables);
    expect([document, JSON.stringify(errors)]).toEqual([
      document,
      expect.not.stringContaining('Did you mean'),
    ]);
    expect(errors?.length).toBeGreaterThan(0);
  }
  expect(await gw.query('{ __typename }')).toEqual({ __typename: 'Query' });
});

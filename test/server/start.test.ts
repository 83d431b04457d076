import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';

it('answers over HTTP', async () => {
  await using gw = await startGateway();
  expect(await gw.query('{ __typename }')).toEqual({ __typename: 'Query' });
  const health = await gw.fetch('/health');
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  const ready = await gw.fetch('/ready');
  expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ok' }]);
});

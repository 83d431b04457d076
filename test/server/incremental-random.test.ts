import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { schema } from '../../src/graph/schema.js';
import { withRandomDirectives } from '../graph/random-directives.js';
import { type Names, randomQuery } from '../graph/random-operations.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { merged, openParts, type Payload } from '../support/parts.js';

function namesOf({ sandbox: { world } }: TestGateway): Names {
  return {
    deviceIds: world.project.sensors.slice(0, 3).map(({ device_id }) => device_id),
    stationCodes: world.project.sensors.slice(0, 3).flatMap(({ station }) => station ?? []),
    catalogueIds: world.catalogue.sensors.slice(0, 3).map(({ id }) => id),
    networkIds: world.catalogue.networks.map(({ id }) => id),
    projectEventIds: world.project.events.slice(-3).map(({ id }) => id),
  };
}

/** Each error by its place and code, once: a field that is in a deferred fragment and in the rest fails in both. */
const sorted = (errors: readonly Payload[] = []) => [
  ...new Set(errors.map(({ path, extensions }) => JSON.stringify([path, extensions.code])).sort()),
];

const errorsOf = (payloads: readonly Payload[]) =>
  payloads.flatMap(({ errors = [], incremental = [] }) => [
    ...errors,
    ...incremental.flatMap((part: Payload) => part.errors ?? []),
  ]);

it('the parts of any document together are its answer without directives, errors and nulls included', async () => {
  const clock = new ManualClock();
  await using gw = await startGateway({
    clock,
    // What an answer teaches the gateway, it teaches one process.
    isAlone: true,
    sandbox: { rateLimits: false },
    env: { PROJECT_RATE_PER_MINUTE: '60000', PROJECT_RATE_BURST: '1000', CATALOGUE_TIER: 'premium' },
  });
  const names = namesOf(gw);
  // The health of some sensors is refused, and of each event what its list does not say.
  const refused = { source: 'project', status: 403, body: '{}', times: Number.POSITIVE_INFINITY } as const;
  gw.sandbox.faults.add({ path: new RegExp(`(${names.deviceIds.join('|')})/soh`), ...refused });
  gw.sandbox.faults.add({ path: /\/v1\/events\/./, ...refused });

  let partCount = 0;
  let errorCount = 0;
  const document = randomQuery(schema, names).chain((query) => withRandomDirectives(schema, query));
  await fc.assert(
    fc.asyncProperty(document, async (asked) => {
      const whole = asked.replace(/@(defer|stream)(\([^)]*\))?/g, '');
      // A first answer can teach the gateway what is in the next one, such as the code of a network.
      await gw.queryWithErrors(whole);
      const { data, errors } = await gw.queryWithErrors(whole);
      const plain = await gw.queryWithErrors(asked);
      expect([plain.data, sorted(plain.errors)]).toEqual([data, sorted(errors)]);

      const parts = await openParts(gw, asked);
      const isWhole = parts.response.headers.get('content-type')?.includes('json');
      const payloads = isWhole ? [(await parts.response.json()) as Payload] : await parts.rest();
      expect(merged(payloads)).toEqual(data);
      expect(sorted(errorsOf(payloads))).toEqual(sorted(errors));
      partCount += payloads.flatMap(({ incremental = [] }) => incremental).length;
      errorCount += errors?.length ?? 0;
    }),
    { numRuns: 150, endOnFailure: true },
  );
  expect(partCount).toBeGreaterThan(150);
  expect(errorCount).toBeGreaterThan(0);
}, 300_000);

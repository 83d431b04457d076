import { createHook } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { aCatalogueEvent, anEvent, aTrigger } from '../../src/sandbox/builders.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway } from '../support/gateway.js';
import { addSensor, deviceId, secondsAgo, stationCode } from './sensors-world.js';

const count = 100;
const few = 10;

/** Promises that this process, which is client, gateway and sandbox, makes meanwhile. */
async function promisesIn(work: () => Promise<unknown>): Promise<number> {
  let promises = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') promises++;
    },
  }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return promises;
}

it.each([
  ['sensors', 'deviceId stationCode model status location { latitude } sources'],
  ['triggers', 'triggerId startTime status sensor { stationCode firmwareVersion status }'],
  ['events', 'projectEventId catalogueEventId originTime magnitude place issuedAt'],
])('takes no promise for a record that is cached: %s', async (list, fields) => {
  const world = emptyWorld();
  for (let n = 1; n <= count; n++) {
    addSensor(world, n);
    const start_time = secondsAgo(60 * n);
    world.project.triggers.push(
      aTrigger({ id: n, device_id: deviceId(n), station: stationCode(n), start_time, end_time: start_time }),
    );
    const s = Date.now() / 1000 - 600 * n;
    const origin = { id: n, latitude: 34, longitude: -118, depth: 8, origin_time: s, issued_at: s + 20 };
    const issued_at = new Date((s + 20) * 1000).toISOString();
    world.project.events.push(anEvent({ id: `e${n}`, issued_at, origin, magnitude: 3 }));
    const origin_time = new Date(s * 1000).toISOString();
    world.catalogue.events.push(aCatalogueEvent({ id: `e${n}`, origin_time, latitude: 34, longitude: -118 }));
  }
  await using gw = await startGateway({
    isAlone: true,
    env: { ANSWER_CACHE: 'false' },
    sandbox: { world, rateLimits: false },
  });
  const asked = (first: number) => gw.query(`{ ${list}(first: ${first}) { nodes { ${fields} } } }`);
  for (const first of [count, few, count, few]) {
    expect((await asked(first))[list].nodes).toHaveLength(first);
  }
  const ofFew = await promisesIn(() => asked(few));
  const ofAll = await promisesIn(() => asked(count));
  // What is left over is of reading a longer answer.
  expect(ofAll - ofFew).toBeLessThan((count - few) / 2);
});

import { expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { anEvent, aSensor, aTrigger } from '../../src/sandbox/builders.js';
import { addProjectKey, emptyProject, emptyWorld, type ProjectData } from '../../src/sandbox/world.js';
import { startGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';

const startMs = Date.UTC(2026, 2, 8, 12);
const textOf = (ms: number) => new Date(ms).toISOString();
const device = '001A2B3C4D5E';

/** The same identifiers in every project; only names tell whose they are. */
function projectOf(mark: string): ProjectData {
  const data = emptyProject({ id: 'prj', name: `${mark} project` });
  const location = { latitude: 34.05, longitude: -118.25, elevation_m: 93, name: `${mark} vault` };
  data.sensors.push(aSensor({ device_id: device, sensor_type: mark, location, last_seen: textOf(startMs) }));
  data.events.push(anEvent({ id: 'evt', pick_stations: [mark], issued_at: textOf(startMs - 60_000) }));
  data.triggers.push(triggerOf(mark, 1, startMs - 30_000));
  return data;
}

const triggerOf = (mark: string, id: number, ms: number) =>
  aTrigger({
    id,
    device_id: device,
    location_name: `${mark} vault`,
    start_time: textOf(ms),
    status: 'closed',
  });

const query = `query Apart { project { name } sensors { nodes { id model location { name } } }
  triggers(first: 3) { nodes { triggerId locationName sensor { model } } } events { nodes { pickStations } } }`;
const feed = 'subscription { triggerChanges { trigger { triggerId locationName sensor { model } } } }';

it('two tenants never see what is the other’s, in 60 seconds of reads by every way and of live triggers', async () => {
  const clock = new ManualClock(startMs);
  const world = emptyWorld();
  const worlds = { Mine: projectOf('Mine'), Other: projectOf('Other') };
  const tenants = (['Mine', 'Other'] as const).map((mark) => ({
    mark,
    other: mark === 'Mine' ? 'Other' : 'Mine',
    data: worlds[mark],
    key: addProjectKey(world, worlds[mark]),
  }));
  await using gw = await startGateway({
    clock,
    sandbox: { world, rateLimits: false },
    catalogue: false,
    env: {
      AUTH_MODE: 'passthrough',
      PROJECT_RATE_PER_MINUTE: '60000',
      PROJECT_RATE_BURST: '10000',
      TRIGGER_POLL_INTERVAL_MS: '1000',
    },
  });
  const received = { Mine: [] as string[], Other: [] as string[] };
  const sockets = await Promise.all(
    tenants.map(async ({ mark, key }) => {
      const socket = await openSocket(gw, { init: { authorization: `Bearer ${key}` } });
      socket.socket.on('message', (data) => received[mark].push(String(data)));
      socket.send({ id: 'feed', type: 'subscribe', payload: { query: feed } });
      return socket;
    }),
  );
  for (let second = 1; second <= 60; second++) {
    for (const { mark, data } of tenants) {
      if (second % 5 === 0) data.triggers.push(triggerOf(mark, 1 + second, clock.wallMs()));
    }
    await Promise.all([
      clock.advance(1_000),
      ...tenants.map(async ({ mark, key }, index) => {
        const headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
        sockets[index]?.send({ id: `q${second}`, type: 'subscribe', payload: { query } });
        const body = JSON.stringify({ query });
        const answers = await Promise.all([
          gw.fetch('/graphql', {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body,
          }),
          gw.fetch(`/graphql?query=${encodeURIComponent(query)}`, { headers }),
        ]);
        received[mark].push(...(await Promise.all(answers.map((answer) => answer.text()))));
      }),
    ]);
  }
  const containing = (text: string) => expect.stringContaining(text);
  for (const { mark, other } of tenants) {
    // Two answers and one over the socket each second, and twelve triggers.
    await expect
      .poll(() => received[mark].filter((text) => text.includes('"triggerChanges"')).length)
      .toBe(12);
    await expect
      .poll(() => received[mark].filter((text) => text.includes(`${mark} project`)).length)
      .toBe(180);
    expect(received[mark]).not.toContainEqual(containing(other));
    expect(received[mark]).not.toContainEqual(containing('"errors"'));
  }
  for (const socket of sockets) socket.socket.terminate();
});

import { describe, expect, it, vi } from 'vitest';
import { aCatalogueEvent, anEvent } from '../../src/sandbox/builders.js';
import type { Sandbox } from '../../src/sandbox/server.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';
import { polling, quick } from './live-gateway.js';

const start = (env = {}) =>
  startGateway({ env: { ...quick, ...env }, sandbox: { world: emptyWorld(), rateLimits: false } });

const eventFields = 'projectEventId magnitude';
const eventFeed = `subscription ($after: String) {
  eventChanges(after: $after) { kind replayed event { ${eventFields} } } }`;

/** What a client knows of earthquakes: each solution by its earthquake and magnitude, in the order in which it came. */
async function followEvents(gw: TestGateway, list = 'first: 500', feed = eventFeed) {
  const { events } = await gw.query(`{ events(${list}) { changesCursor nodes { ${eventFields} } } }`);
  const nameOf = ({ projectEventId, magnitude }: { projectEventId: string; magnitude: number }) =>
    `${projectEventId} ${magnitude}`;
  const listed: string[] = events.nodes.map(nameOf);
  const delivered: string[] = [];
  const problems: unknown[] = [];
  const socket = await openSocket(gw, { init: {} });
  const variables = { after: events.changesCursor };
  socket.send({ id: '1', type: 'subscribe', payload: { query: feed, variables } });
  void (async () => {
    for (;;) {
      const { type, payload } = await socket.next();
      if (payload?.data) delivered.push(nameOf(payload.data.eventChanges.event));
      else problems.push({ type, payload });
    }
  })().catch(() => undefined);
  return { listed, delivered, problems };
}

/** Adds the solution, or replaces the one before. Magnitudes number the solutions of an earthquake. */
function issue({ world }: Pick<Sandbox, 'world'>, id: string, magnitude: number, agoS = 20): void {
  const nowS = Date.now() / 1000;
  const { events } = world.project;
  const before = events.find((event) => event.id === id);
  const originS = before?.origin?.origin_time ?? nowS - agoS;
  const origin = {
    id: `o-${id}-${magnitude}`,
    latitude: 34,
    longitude: -118 + Number(id) / 1000,
    depth: 8,
    origin_time: originS,
    issued_at: nowS,
  };
  if (before) events.splice(events.indexOf(before), 1);
  events.push(anEvent({ id, issued_at: new Date().toISOString(), magnitude, origin }));
}

describe('a list of earthquakes and the feed behind it', () => {
  it('have every solution once together, while solutions are issued and reissued', async () => {
    await using gw = await start();
    let issued = 0;
    const clients: Awaited<ReturnType<typeof followEvents>>[] = [];
    for (let round = 0; round < 10; round++) {
      const joining = followEvents(gw);
      // While the client lists and subscribes: as many on a slow machine as on a fast one.
      for (let i = 0; i < 5; i++) {
        issue(gw.sandbox, String(++issued), 1, 20 + (issued % 7) * 40);
        if (issued % 3 === 0) issue(gw.sandbox, String(Math.ceil(issued / 2)), 1 + issued);
        await gw.fetch('/health');
      }
      clients.push(await joining);
    }
    const latest = gw.sandbox.world.project.events.map(({ id, magnitude }) => `${id} ${magnitude}`);
    await vi.waitFor(() => {
      for (const { listed, delivered, problems } of clients) {
        expect(problems).toEqual([]);
        const all = new Set([...listed, ...delivered]);
        expect(latest.filter((name) => !all.has(name))).toEqual([]);
      }
    }, 20_000);
    for (const { listed, delivered } of clients)
      expect(new Set([...listed, ...delivered]).size).toBe(listed.length + delivered.length);
  }, 60_000);

  it('show a solution that is issued between the list and the cursor, with subscribers and without', async () => {
    await using gw = await start();
    for (const hasSubscribers of [false, true]) {
      const [shown, other, later] = hasSubscribers ? ['11', '12', '13'] : ['1', '2', '3'];
      issue(gw.sandbox, shown ?? '', 1);
      issue(gw.sandbox, other ?? '', 1, 600);
      if (hasSubscribers) await followEvents(gw);
      if (hasSubscribers) await polling(gw.sandbox, '/v1/events');
      // The list comes from the cache; what follows has been issued since it was read.
      await gw.query('{ events(first: 1) { nodes { id } } }');
      issue(gw.sandbox, shown ?? '', 2);
      issue(gw.sandbox, other ?? '', 2);
      issue(gw.sandbox, later ?? '', 1);
      const client = await followEvents(gw, 'first: 1');
      const wanted = [`${other} 2`, `${shown} 2`, `${later} 1`];
      await vi.waitFor(() => {
        const all = [...client.listed, ...client.delivered];
        expect(wanted.filter((name) => !all.includes(name))).toEqual([]);
      }, 10_000);
      expect(client.problems).toEqual([]);
    }
  });

  it('say nothing of what is on another page, and nothing twice', async () => {
    await using gw = await start();
    for (let id = 1; id <= 30; id++) issue(gw.sandbox, String(id), 1, 20 + id * 60);
    await gw.query('{ events(first: 5) { nodes { id } } }');
    const client = await followEvents(gw, 'first: 5');
    await polling(gw.sandbox, '/v1/events');
    issue(gw.sandbox, '99', 1);
    await vi.waitFor(() => expect(client.delivered).toContain('99 1'), 10_000);
    expect(client.delivered).toEqual(['99 1']);
  });

  it('continue where the catalogue alone is configured', async () => {
    await using gw = await startGateway({
      project: false,
      env: quick,
      sandbox: { world: emptyWorld(), rateLimits: false },
    });
    const { events } = gw.sandbox.world.catalogue;
    const add = (id: string) =>
      events.push(aCatalogueEvent({ id, origin_time: new Date(Date.now() - 60_000).toISOString() }));
    add('cat_1');
    const answer = await gw.query('{ events { changesCursor nodes { catalogueEventId } } }');
    expect(answer.events.nodes).toHaveLength(1);
    add('cat_2');
    await using socket = await openSocket(gw, { init: {} });
    const query =
      'subscription ($after: String) { eventChanges(after: $after) { replayed event { catalogueEventId } } }';
    const variables = { after: answer.events.changesCursor };
    socket.send({ id: '1', type: 'subscribe', payload: { query, variables } });
    expect((await socket.next()).payload.data.eventChanges).toEqual({
      replayed: true,
      event: { catalogueEventId: 'cat_2' },
    });
  });
});

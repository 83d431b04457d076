import { describe, expect, it, vi } from 'vitest';
import { aCatalogueEvent, aSensor } from '../../src/sandbox/builders.js';
import { emptyWorld } from '../../src/sandbox/world.js';
import { clockFasterBy } from '../support/clock.js';
import { getEventStream } from '../support/event-stream.js';
import { startGateway } from '../support/gateway.js';
import { openSocket } from '../support/raw-socket.js';
import { addTrigger, earlierMs, issueEvent, polling, quick } from './live-gateway.js';

const at = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString();
const subscribe = (query: string) => ({ id: '1', type: 'subscribe', payload: { query } });
const start = (env = {}, world = emptyWorld()) =>
  startGateway({ env: { ...quick, ...env }, sandbox: { world, rateLimits: false } });

describe('eventChanges', () => {
  const query = `subscription { eventChanges { kind replayed cursor event { projectEventId magnitude place sources } } }`;

  it('delivers an event when it is issued, with what the catalogue knows, and of each new solution', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    issueEvent(gw.sandbox, 'before', { agoMs: earlierMs });
    socket.send(subscribe(query));
    await polling(gw.sandbox, '/v1/events');
    const { catalogue, project } = gw.sandbox.world;
    catalogue.events.push(
      aCatalogueEvent({ id: 'e1', origin_time: at(-20_000), latitude: 34, longitude: -118, magnitude: 3.1 }),
    );
    issueEvent(gw.sandbox, 'e1');
    const { eventChanges: issued } = (await socket.next()).payload.data;
    expect(issued).toMatchObject({ kind: 'ISSUED', replayed: false });
    expect(issued.event).toEqual({
      projectEventId: 'e1',
      magnitude: 3.1,
      place: '6km NNW of Testville',
      sources: ['PROJECT', 'CATALOGUE'],
    });
    const event = project.events.find(({ id }) => id === 'e1');
    Object.assign(event ?? {}, { issued_at: at(0), magnitude: 4 });
    expect((await socket.next()).payload.data.eventChanges).toMatchObject({
      kind: 'REISSUED',
      event: { projectEventId: 'e1' },
    });
  });

  it('delivers an earthquake of the catalogue alone, which lists then have, and that the project has it too', async () => {
    // The catalogue is polled once a minute.
    await using gw = await startGateway({
      clock: clockFasterBy(20),
      env: quick,
      sandbox: { world: emptyWorld(), rateLimits: false },
    });
    await using socket = await openSocket(gw, { init: {} });
    const { catalogue, project } = gw.sandbox.world;
    const origin_time = at(-20_000);
    const epicentre = { latitude: 34, longitude: -118 };
    catalogue.events.push(aCatalogueEvent({ id: 'before', ...epicentre, origin_time: at(-200_000) }));
    socket.send(subscribe(query.replace('projectEventId', 'projectEventId catalogueEventId')));
    await vi.waitFor(() => expect(gw.sandbox.seen('catalogue', '/v1/events')).not.toHaveLength(0), 10_000);
    catalogue.events.push(aCatalogueEvent({ id: 'c1', ...epicentre, origin_time, magnitude: 3.1 }));
    expect((await socket.next()).payload.data.eventChanges).toMatchObject({
      kind: 'ISSUED',
      event: { projectEventId: null, catalogueEventId: 'c1', magnitude: 3.1, sources: ['CATALOGUE'] },
    });
    const { events } = await gw.query('{ events(first: 20) { nodes { catalogueEventId } } }');
    expect(events.nodes).toContainEqual({ catalogueEventId: 'c1' });
    issueEvent(gw.sandbox, 'p1');
    Object.assign(project.events.at(-1)?.origin ?? {}, { origin_time: Date.parse(origin_time) / 1000 });
    expect((await socket.next()).payload.data.eventChanges).toMatchObject({
      kind: 'REISSUED',
      event: { projectEventId: 'p1', catalogueEventId: 'c1', sources: ['PROJECT', 'CATALOGUE'] },
    });
  }, 30_000);

  it('delivers an event that was listed before it was located once it is, as issued', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    const list = gw.sandbox.world.project.events;
    issueEvent(gw.sandbox, 'earlier', { agoMs: earlierMs });
    const [earlier] = list;
    const earlierOrigin = earlier?.origin ?? null;
    Object.assign(earlier ?? {}, { origin: null });
    socket.send(subscribe(query));
    await polling(gw.sandbox, '/v1/events');
    issueEvent(gw.sandbox, 'later');
    const later = list.find(({ id }) => id === 'later');
    const laterOrigin = later?.origin ?? null;
    Object.assign(later ?? {}, { origin: null });
    issueEvent(gw.sandbox, 'located');
    expect((await socket.next()).payload.data.eventChanges.event.projectEventId).toBe('located');
    for (const [event, origin] of [
      [earlier, earlierOrigin],
      [later, laterOrigin],
    ] as const) {
      Object.assign(event ?? {}, { origin, issued_at: at(0) });
      expect((await socket.next()).payload.data.eventChanges).toMatchObject({
        kind: 'ISSUED',
        event: { projectEventId: event?.id },
      });
      // It loses its location for a while: what was delivered stays so.
      Object.assign(event ?? {}, { origin: null, issued_at: at(1) });
      issueEvent(gw.sandbox, `after-${event?.id}`);
      await socket.next();
      Object.assign(event ?? {}, { origin, issued_at: at(2) });
      expect((await socket.next()).payload.data.eventChanges).toMatchObject({
        kind: 'REISSUED',
        event: { projectEventId: event?.id },
      });
    }
  });

  it('is filtered by place and magnitude, and resumes from its cursor', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    const filter = `{ minMagnitude: 2.5, within: { latitude: 34, longitude: -118, radiusKm: 50 } }`;
    const filtered = (after: string) =>
      query.replace('eventChanges', `eventChanges(filter: ${filter}, after: ${after})`);
    socket.send(subscribe(filtered('null')));
    await polling(gw.sandbox, '/v1/events');
    issueEvent(gw.sandbox, 'small', { magnitude: 2 });
    issueEvent(gw.sandbox, 'right', { magnitude: 3 });
    const { eventChanges } = (await socket.next()).payload.data;
    expect(eventChanges.event.projectEventId).toBe('right');
    socket.socket.terminate();
    issueEvent(gw.sandbox, 'next', { magnitude: 3 });
    await using again = await openSocket(gw, { init: {} });
    again.send(subscribe(filtered(JSON.stringify(eventChanges.cursor))));
    expect((await again.next()).payload.data.eventChanges.event.projectEventId).toBe('next');
  });

  it('resumes by GET after a day of many, at another gateway', async () => {
    await using gw = await start();
    const resumable =
      'subscription ($after: String) { eventChanges(after: $after) { kind cursor event { projectEventId } } }';
    const changesOf = (text: string) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice('data: '.length)).data.eventChanges);
    const first = await getEventStream(gw, resumable);
    await polling(gw.sandbox, '/v1/events');
    const { events } = gw.sandbox.world.project;
    for (let i = 0; i < 600; i++) issueEvent(gw.sandbox, `e${i}`);
    await vi.waitFor(() => expect(first.text().split('data: {')).toHaveLength(601), 60_000);
    const changes = changesOf(first.text());
    expect(Math.max(...changes.map(({ cursor }) => cursor.length))).toBeLessThanOrEqual(1_000);
    await first.reader.cancel();
    Object.assign(events[7] ?? {}, { magnitude: 5 });
    issueEvent(gw.sandbox, 'next');
    await using another = await startGateway({ env: quick, behind: gw.sandbox });
    const resumed = await getEventStream(another, resumable, { after: changes.at(-1).cursor });
    await vi.waitFor(() => expect(changesOf(resumed.text())).toHaveLength(2), 60_000);
    issueEvent(gw.sandbox, 'live');
    await vi.waitFor(() => expect(changesOf(resumed.text())).toHaveLength(3), 60_000);
    expect(changesOf(resumed.text()).map(({ kind, event }) => [kind, event.projectEventId])).toEqual([
      ['REISSUED', 'e7'],
      ['ISSUED', 'next'],
      ['ISSUED', 'live'],
    ]);
    await resumed.reader.cancel();
  }, 180_000);

  it('ends with FORBIDDEN on a plan without event detection', async () => {
    await using gw = await start();
    gw.sandbox.world.project.eventsStatus = 403;
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe(query));
    const { type, payload } = await socket.next();
    expect([type, payload.errors[0].extensions.code]).toEqual(['next', 'FORBIDDEN']);
    expect(await socket.next()).toEqual({ id: '1', type: 'complete' });
  });
});

describe('a record that a poll cannot read', () => {
  it('is delivered as soon as it can be read', async () => {
    await using gw = await start();
    await using socket = await openSocket(gw, { init: {} });
    // Beside it, so that the page can be read in part.
    addTrigger(gw.sandbox, { id: 76, start_time: at(-earlierMs) });
    issueEvent(gw.sandbox, 'readable', { agoMs: earlierMs });
    socket.send({
      ...subscribe('subscription { triggerChanges { kind trigger { triggerId } } }'),
      id: 'trigger',
    });
    socket.send({
      ...subscribe('subscription { eventChanges { kind event { projectEventId } } }'),
      id: 'event',
    });
    await polling(gw.sandbox);
    await polling(gw.sandbox, '/v1/events');
    const trigger = addTrigger(gw.sandbox, { id: 77, status: 'open' });
    const { start_time } = trigger;
    Object.assign(trigger, { start_time: 'noon' });
    issueEvent(gw.sandbox, 'unreadable');
    const event = gw.sandbox.world.project.events.find(({ id }) => id === 'unreadable');
    const issuedAt = event?.issued_at;
    const origin = event?.origin;
    Object.assign(event ?? {}, { origin: { ...origin, origin_time: 'noon' } });
    await polling(gw.sandbox);
    await polling(gw.sandbox, '/v1/events');
    Object.assign(trigger, { start_time });
    Object.assign(event ?? {}, { origin, issued_at: issuedAt });
    const messages = [await socket.next(), await socket.next()];
    expect(new Map(messages.map(({ id, payload }) => [id, payload.data]))).toEqual(
      new Map<unknown, unknown>([
        ['trigger', { triggerChanges: { kind: 'OPENED', trigger: { triggerId: '77' } } }],
        ['event', { eventChanges: { kind: 'ISSUED', event: { projectEventId: 'unreadable' } } }],
      ]),
    );
  });
});

describe('sensorStatusChanges', () => {
  const query = `subscription { sensorStatusChanges { previousStatus status sensor { stationCode status } } }`;

  it('delivers that a sensor goes offline when 150 seconds have passed, though no poll says so', async () => {
    const world = emptyWorld();
    const sensor = aSensor({ device_id: '001A2B3C4D5E', station: 'TEST', last_seen: at(-148_000) });
    world.project.sensors.push(
      sensor,
      aSensor({ device_id: 'FFFFFFFFFFFF', station: 'OTHER', last_seen: at(0) }),
    );
    // A poll would not say so for a day.
    await using gw = await start({ SENSOR_POLL_INTERVAL_MS: '86400000' }, world);
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe(query));
    expect((await socket.next()).payload.data.sensorStatusChanges).toEqual({
      previousStatus: 'ONLINE',
      status: 'OFFLINE',
      sensor: { stationCode: 'TEST', status: 'OFFLINE' },
    });
  });

  it('delivers a change that happened while the record of the sensor could not be read', async () => {
    const world = emptyWorld();
    const sensor = aSensor({
      device_id: '001A2B3C4D5E',
      station: 'TEST',
      status: 'offline',
      last_seen: at(0),
    });
    world.project.sensors.push(sensor, aSensor({ device_id: 'FFFFFFFFFFFF', station: 'OTHER' }));
    await using gw = await start({}, world);
    await using socket = await openSocket(gw, { init: {} });
    socket.send(subscribe(query));
    await polling(gw.sandbox, '/v1/sensors');
    Object.assign(sensor, { device_id: null });
    await polling(gw.sandbox, '/v1/sensors');
    Object.assign(sensor, { device_id: '001A2B3C4D5E', status: 'online' });
    expect((await socket.next()).payload.data.sensorStatusChanges).toEqual({
      previousStatus: 'OFFLINE',
      status: 'ONLINE',
      sensor: { stationCode: 'TEST', status: 'ONLINE' },
    });
  });

  it('names sensors by Device ID or station code', async () => {
    const world = emptyWorld();
    const sensors = ['AA', 'BB', 'CC'].map((code) =>
      aSensor({ device_id: `0000000000${code}`, station: code, status: 'offline', last_seen: at(0) }),
    );
    world.project.sensors.push(...sensors);
    await using gw = await start({}, world);
    await using socket = await openSocket(gw, { init: {} });
    const of = (filter: string) => query.replace('Changes {', `Changes(filter: ${filter}) {`);
    socket.send({ ...subscribe(of('{ deviceIds: ["0000000000bb"] }')), id: 'device' });
    socket.send({ ...subscribe(of('{ stationCodes: ["CC"] }')), id: 'station' });
    await polling(gw.sandbox, '/v1/sensors');
    for (const sensor of sensors) sensor.status = 'online';
    const messages = [await socket.next(), await socket.next()];
    const received = messages.map(({ id, payload }) => [
      id,
      payload.data.sensorStatusChanges.sensor.stationCode,
    ]);
    expect(new Map(received as [string, string][])).toEqual(
      new Map([
        ['device', 'BB'],
        ['station', 'CC'],
      ]),
    );
  });
});

describe('with the catalogue alone', () => {
  it('events and sensors are polled there, and triggers have no source', async () => {
    await using gw = await startGateway({
      project: false,
      env: quick,
      sandbox: { world: emptyWorld(), rateLimits: false },
    });
    await using socket = await openSocket(gw, { init: {} });
    socket.send({ ...subscribe('subscription { triggerChanges { kind } }'), id: 'triggers' });
    const refused = await socket.next();
    expect([refused.id, refused.payload.errors[0].extensions.code]).toEqual(['triggers', 'NOT_CONFIGURED']);
    expect(await socket.next()).toEqual({ id: 'triggers', type: 'complete' });
    socket.send({ ...subscribe('subscription { eventChanges { kind } }'), id: 'events' });
    socket.send({ ...subscribe('subscription { sensorStatusChanges { status } }'), id: 'sensors' });
    await vi.waitFor(() => expect(gw.sandbox.seen('catalogue', '/v1/events')).toHaveLength(1), 10_000);
    await vi.waitFor(() => expect(gw.sandbox.seen('catalogue', '/v1/sensors')).toHaveLength(1), 10_000);
    const { gateway } = await gw.query('{ gateway { feeds { name active subscriberCount intervalS } } }');
    expect(gateway.feeds).toEqual([
      { name: 'eventChanges', active: true, subscriberCount: 1, intervalS: 60 },
      { name: 'sensorStatusChanges', active: true, subscriberCount: 1, intervalS: 60 },
    ]);
  });
});

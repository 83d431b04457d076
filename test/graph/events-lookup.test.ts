import { describe, expect, it } from 'vitest';
import { gatewayOf, listed, quake, timeOf } from './events-world.js';

const fields = 'id projectEventId catalogueEventId originTime sources';
const byId = `query ($id: ID!) { event(by: { id: $id }) { ${fields} } node(id: $id) { ... on Event { ${fields} } } }`;
const byProjectId = `query ($id: String!) { event(by: { projectEventId: $id }) { ${fields} issuedAt } }`;
const byCatalogueId = `query ($id: String!) { event(by: { catalogueEventId: $id }) { ${fields} place } }`;

const pair = () => ({ project: [quake('p1', 0)], catalogue: [listed('c1', 2), listed('c9', 90)] });

describe('an event by its id', () => {
  it('is the same whichever way it was reached', async () => {
    await using gw = await gatewayOf(pair());
    const { events } = await gw.query(`{ events { nodes { ${fields} } } }`);
    const merged = events.nodes[1];
    expect(merged).toMatchObject({ projectEventId: 'p1', catalogueEventId: 'c1', originTime: timeOf(2) });
    expect(await gw.query(byId, { id: merged.id })).toEqual({ event: merged, node: merged });
    expect((await gw.query(byProjectId, { id: 'p1' })).event).toEqual({ ...merged, issuedAt: timeOf(20) });
    expect((await gw.query(byCatalogueId, { id: 'c1' })).event).toEqual({
      ...merged,
      place: '6km NNW of Testville',
    });
    const alone = events.nodes[0];
    expect(await gw.query(byId, { id: alone.id })).toEqual({ event: alone, node: alone });
  });

  it('leaves a rival that is nearer to its partner', async () => {
    const nearer = quake('p2', 1.5);
    await using gw = await gatewayOf({ ...pair(), project: [quake('p1', 0), nearer] });
    expect((await gw.query(byProjectId, { id: 'p1' })).event.catalogueEventId).toBeNull();
    expect((await gw.query(byCatalogueId, { id: 'c1' })).event.projectEventId).toBe('p2');
  });

  it('is found by an equal id before it is by place and time', async () => {
    await using gw = await gatewayOf({
      project: [quake('same', 0), quake('near', 41)],
      catalogue: [listed('same', 40, { latitude: 35, longitude: -119 }), listed('other', 0.5)],
    });
    expect((await gw.query(byProjectId, { id: 'same' })).event.catalogueEventId).toBe('same');
    expect((await gw.query(byCatalogueId, { id: 'same' })).event.projectEventId).toBe('same');
    expect((await gw.query(byCatalogueId, { id: 'other' })).event.projectEventId).toBeNull();
  });

  it('is null when there is none', async () => {
    await using gw = await gatewayOf(pair());
    expect(await gw.query(byProjectId, { id: 'nobody' })).toEqual({ event: null });
    expect(await gw.query(byCatalogueId, { id: 'nobody' })).toEqual({ event: null });
    for (const key of ['Event:p:nobody', 'Event:c:nobody', 'Event:nonsense']) {
      const id = Buffer.from(key).toString('base64url');
      expect(await gw.query(byId, { id })).toEqual({ event: null, node: null });
    }
  });

  it('is found in the list where the detail does not repeat it', async () => {
    const reissued = quake('p1', 0, { lagS: 40_000 });
    await using gw = await gatewayOf({ ...pair(), project: [reissued, quake('p2', 3600)] });
    gw.sandbox.world.project.detailRepeatsListFields = false;
    expect((await gw.query(byProjectId, { id: 'p1' })).event).toMatchObject({
      catalogueEventId: 'c1',
      issuedAt: timeOf(40_000),
    });
  });

  it('is made from the solutions where the list does not show it any more', async () => {
    await using gw = await gatewayOf(pair());
    gw.sandbox.world.project.detailRepeatsListFields = false;
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/events',
      times: 100,
      rewrite: (body) => ({ ...(body as object), data: [], total: 0 }),
    });
    const { event } = await gw.query(byProjectId, { id: 'p1' });
    expect(event).toMatchObject({ projectEventId: 'p1', catalogueEventId: 'c1', originTime: timeOf(2) });
  });

  it('keeps what the project knows when the catalogue is unavailable, with an error for what it does not', async () => {
    await using gw = await gatewayOf(pair());
    gw.sandbox.faults.add({ source: 'catalogue', status: 503, times: 100 });
    const { data, errors } = await gw.queryWithErrors(
      '{ event(by: { projectEventId: "p1" }) { projectEventId magnitude originTime sources place quality { stationsUsed } } }',
    );
    expect(data.event).toEqual({
      projectEventId: 'p1',
      magnitude: 2.4,
      originTime: '2026-03-08T12:00:00Z',
      sources: ['PROJECT'],
      place: null,
      quality: null,
    });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['event', 'place'], 'UPSTREAM_UNAVAILABLE'],
      [['event', 'quality'], 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  it('keeps its global id when the project is unavailable and the catalogue knows the same id', async () => {
    const id = Buffer.from('Event:p:same').toString('base64url');
    await using gw = await gatewayOf({ project: [quake('same', 0)], catalogue: [listed('same', 2)] });
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    const { data, errors } = await gw.queryWithErrors(
      'query ($id: ID!) { node(id: $id) { id ... on Event { place stationCount } } }',
      { id },
    );
    expect(data.node).toEqual({ id, place: '6km NNW of Testville', stationCount: null });
    expect(errors?.map(({ path }) => path)).toEqual([['node', 'stationCount']]);
  });

  it('is an error when the interface that would know it is unavailable', async () => {
    await using gw = await gatewayOf(pair());
    gw.sandbox.faults.add({ source: 'project', drop: true, times: 100 });
    const { data, errors } = await gw.queryWithErrors(byProjectId, { id: 'p1' });
    expect(data).toEqual({ event: null });
    expect(errors).toMatchObject([{ path: ['event'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });

  it('costs four requests at most, two where the catalogue has nobody near', async () => {
    await using gw = await gatewayOf({
      project: [quake('p1', 0), quake('p2', 9000)],
      catalogue: [listed('c1', 2)],
    });
    await gw.query(byProjectId, { id: 'p2' });
    expect(gw.sandbox.requests.map(({ path }) => path)).toEqual(['/v1/events/p2', '/v1/events']);
    gw.sandbox.forget();
    await gw.query(byProjectId, { id: 'p1' });
    expect(gw.sandbox.requests.length).toBeLessThanOrEqual(4);
  });

  it('takes exactly one field', async () => {
    await using gw = await gatewayOf(pair());
    const { errors } = await gw.queryWithErrors(
      '{ event(by: { projectEventId: "p1", catalogueEventId: "c1" }) { id } }',
    );
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});

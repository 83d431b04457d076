import { describe, expect, it } from 'vitest';
import { realClock } from '../../src/clock.js';
import { asId } from '../../src/upstream/decode/fields.js';
import { failureOf, projectAt, scopeOf, startTiny, startUpstream } from './harness.js';

const at = (text: string) => `2026-01-01T${text}Z`;

describe('every row of the project interface', () => {
  it('is read, decoded and asked for as docs/interfaces.md P4 says', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    const { value: own } = await project.project(scopeOf());
    expect(own).toMatchObject({ id: expect.any(String), location_masked: false });
    const { value: sensors } = await project.sensors({ limit: 500, offset: 0 }, scopeOf());
    expect(sensors.received).toBe(sensors.total);
    const [sensor] = sensors.items;
    const id = sensor?.device_id ?? '';
    expect((await project.sensor(id, scopeOf()))?.value).toEqual(sensor);
    expect((await project.sensor(sensor?.station as string, scopeOf()))?.value).toEqual(sensor);
    const health = await project.healthReports(asId(id), { limit: 3 }, scopeOf());
    expect(health?.value.reports).toHaveLength(3);
    expect(health?.value.nextFrom).toEqual(health?.value.reports[2]?.timestamp);
    const next = await project.healthReports(
      asId(id),
      { from: health?.value.nextFrom ?? '', limit: 3 },
      scopeOf(),
    );
    expect(next?.value.reports[0]?.timestamp).not.toBe(health?.value.reports[2]?.timestamp);
    const { value: events } = await project.events(
      {
        from: '2025-12-01',
        to: at('00:00:00'),
        minMagnitude: 0,
        bbox: [-180, -90, 180, 90],
        order: 'asc',
        limit: 2,
        offset: 1,
      },
      scopeOf(),
    );
    expect(events.items).toHaveLength(2);
    const detail = await project.event(asId(events.items[0]?.id ?? ''), scopeOf());
    expect(detail?.value.origins?.length).toBeGreaterThan(0);
    const { value: triggers } = await project.triggers(
      { from: '2025-12-01', to: at('00:00:00'), deviceId: asId(id), order: 'desc', limit: 5, offset: 0 },
      scopeOf(),
    );
    for (const trigger of triggers.items) expect(trigger.device_id).toBe(id);
    expect(sandbox.requests.map(({ status }) => status)).not.toContain(400);
    expect(
      sandbox.seen('project').map(({ path, query }) => [path, Object.keys(query).sort().join()]),
    ).toEqual([
      ['/v1/project', ''],
      ['/v1/sensors', 'limit,offset'],
      [`/v1/sensors/${id}`, ''],
      [`/v1/sensors/${sensor?.station}`, ''],
      [`/v1/sensors/${id}/soh`, 'limit'],
      [`/v1/sensors/${id}/soh`, 'from,limit'],
      ['/v1/events', 'bbox,from,limit,min_magnitude,offset,order,to'],
      [`/v1/events/${events.items[0]?.id}`, ''],
      ['/v1/triggers', 'device_id,from,limit,offset,order,to'],
    ]);
  });

  it('sends nothing that the description does not name, whatever else the caller has at hand', async () => {
    await using upstream = await startUpstream();
    const { project, catalogue, sandbox } = upstream;
    const more = { limit: 1, offset: 0, page: 1, order: 'desc' as const, note: 'mine', channel: 'HNZ' };
    await project.sensors(more, scopeOf());
    await project.events(more, scopeOf());
    await project.triggers(more, scopeOf());
    await catalogue.sensors(more, scopeOf());
    await catalogue.events(more, scopeOf());
    for (const { query } of sandbox.requests) expect(query).not.toHaveProperty('note');
    for (const { query } of sandbox.seen('catalogue')) expect(query).not.toHaveProperty('offset');
  });

  it('takes a project that is not there for a refusal, since every key has one', async () => {
    await using upstream = await startUpstream();
    const { project, sandbox } = upstream;
    sandbox.faults.add({ source: 'project', status: 404 });
    expect((await failureOf(project.project(scopeOf()))).code).toBe('FORBIDDEN');
  });

  it('has no total where upstream gives none', async () => {
    await using tiny = await startTiny((_, response) => response.end('{"data":[],"total":"many"}'));
    await using client = projectAt(tiny.url, realClock);
    expect((await client.sensors({ limit: 5, offset: 0 }, scopeOf())).value).toEqual({
      items: [],
      received: 0,
      total: null,
    });
  });

  it('takes an event detail whatever its layout', async () => {
    const bodies = [
      '{}',
      '{"origins":{},"picks":null,"magnitudes":[1,"a",null]}',
      '{"id":"e1","origins":[{"x":1}]}',
    ];
    await using tiny = await startTiny((request, response) =>
      response.end(bodies[Number(request.url?.slice(-1))]),
    );
    await using client = projectAt(tiny.url, realClock);
    const read = async (id: string) => (await client.event(asId(id), scopeOf()))?.value;
    expect(await read('0')).toMatchObject({ event: null, origins: null });
    expect(await read('1')).toMatchObject({ origins: null, picks: null, magnitudes: [1, 'a', null] });
    expect(await read('2')).toMatchObject({ event: { id: 'e1' }, origins: [{ x: 1 }] });
  });
});

describe('every row of the catalogue interface', () => {
  it('is read, decoded and asked for as docs/interfaces.md C4 says', async () => {
    await using upstream = await startUpstream();
    const { catalogue, sandbox } = upstream;
    const { value: networks } = await catalogue.networks(scopeOf());
    const networkId = networks[0]?.id ?? '';
    expect((await catalogue.network(asId(networkId), scopeOf()))?.value).toEqual(networks[0]);
    expect(
      (await catalogue.networkStatistics(asId(networkId), scopeOf()))?.value.total_sensors,
    ).toBeGreaterThan(0);
    const { value: sensors } = await catalogue.sensors(
      { networkId: asId(networkId), status: 'online', page: 1, limit: 100 },
      scopeOf(),
    );
    expect(sensors).toMatchObject({ limit: 100, received: sensors.total });
    const id = sensors.items[0]?.id ?? '';
    expect((await catalogue.sensor(asId(id), scopeOf()))?.value.network_code).toEqual(expect.any(String));
    const window = { channel: 'HNZ', start: '2025-12-31T23:00:00Z', end: '2025-12-31T23:00:10Z' };
    const wave = await catalogue.waveform(asId(id), window, scopeOf());
    expect(wave?.value.samples.length).toBeCloseTo((wave?.value.sample_rate ?? 0) * 10, -1);
    const bytes: Buffer[] = [];
    for await (const chunk of (await catalogue.waveformStream(asId(id), window, scopeOf())) ?? [])
      bytes.push(chunk);
    expect(Buffer.concat(bytes).length % 512).toBe(0);
    const { value: events } = await catalogue.events(
      {
        networkId: asId(networkId),
        start: '2025-01-01T00:00:00Z',
        end: at('00:00:00'),
        minMagnitude: 0,
        maxMagnitude: 9,
        near: { latitude: 0, longitude: 0, radiusKm: 20_000 },
        page: 1,
        limit: 3,
      },
      scopeOf(),
    );
    expect(events.items).toHaveLength(3);
    expect(
      (await catalogue.event(asId(events.items[0]?.id ?? ''), scopeOf()))?.value.stations,
    ).toBeInstanceOf(Array);
    expect(
      sandbox.seen('catalogue').map(({ path, query }) => [path, Object.keys(query).sort().join()]),
    ).toEqual([
      ['/v1/networks', ''],
      [`/v1/networks/${networkId}`, ''],
      [`/v1/networks/${networkId}/stats`, ''],
      ['/v1/sensors', 'limit,network_id,page,status'],
      [`/v1/sensors/${id}`, ''],
      [`/v1/sensors/${id}/data`, 'channel,end,format,start'],
      [`/v1/sensors/${id}/data`, 'channel,end,format,start'],
      ['/v1/events', 'end,lat,limit,lon,max_magnitude,min_magnitude,network_id,page,radius,start'],
      [`/v1/events/${events.items[0]?.id}`, ''],
    ]);
  });

  it('says with which page size a page of events was cut, and asks for less where the size is refused', async () => {
    for (const overMaximum of ['clamp', 'refuse'] as const) {
      await using upstream = await startUpstream({
        sandbox: { catalogueChoices: { eventsMaxLimit: 50, overMaximum } },
      });
      const { catalogue, sandbox } = upstream;
      const { value } = await catalogue.events({ page: 1, limit: 500 }, scopeOf());
      expect(value).toMatchObject({ limit: 50, received: 50 });
      sandbox.forget();
      const second = await catalogue.events({ page: 2, limit: 500 }, scopeOf());
      expect(second.value.limit).toBe(50);
      expect(second.value.items[0]?.id).not.toBe(value.items[0]?.id);
      expect(sandbox.seen('catalogue')).toHaveLength(1);
    }
  });

  it('does not take another wrong argument for the size of the page', async () => {
    await using upstream = await startUpstream();
    const { catalogue, sandbox } = upstream;
    const wrong = { start: 'yesterday', page: 1, limit: 100 };
    expect(await failureOf(catalogue.events(wrong, scopeOf()))).toMatchObject({ argument: 'from' });
    expect(sandbox.seen('catalogue')).toHaveLength(1);
  });

  it('has a page of what was asked where the paging is missing in part or whole', async () => {
    const bodies = [
      '{"data":[]}',
      '{"data":[],"pagination":null}',
      '{"data":[],"pagination":{"total":7}}',
      '{"data":[],"pagination":{"limit":0,"total":-1}}',
    ];
    await using upstream = await startUpstream();
    for (const body of bodies) {
      await using tiny = await startTiny((_, response) => response.end(body));
      const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
      const { value } = await catalogue.sensors({ page: 1, limit: 33 }, scopeOf());
      expect(value).toMatchObject({ limit: 33, received: 0, total: body.includes('7') ? 7 : null });
    }
  });

  it('reads all networks where their list turns out to be paged, and stops where pages repeat', async () => {
    await using upstream = await startUpstream();
    for (const repeats of [false, true]) {
      await using tiny = await startTiny((request, response) => {
        const page = repeats
          ? 1
          : Number(new URL(request.url ?? '', 'http://t').searchParams.get('page') ?? 1);
        const data = [0, 1].map((index) => ({ id: `n${page}-${index}` })).slice(0, page === 3 ? 1 : 2);
        response.end(JSON.stringify({ data, pagination: { page, limit: 2, total: 5 } }));
      });
      const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
      const { value } = await catalogue.networks(scopeOf());
      expect(value.map(({ id }) => id)).toEqual(
        repeats ? ['n1-0', 'n1-1'] : ['n1-0', 'n1-1', 'n2-0', 'n2-1', 'n3-0'],
      );
      expect(tiny.requests).toHaveLength(repeats ? 2 : 3);
    }
  });

  it('keeps a gap in the samples of a waveform a gap, and refuses what are no samples', async () => {
    await using upstream = await startUpstream();
    const wave = (samples: string) =>
      `{"data":{"start_time":"2026-01-01T00:00:00Z","end_time":"2026-01-01T00:00:01Z","sample_rate":4,"samples":${samples}}}`;
    const read = async (samples: string) => {
      await using tiny = await startTiny((_, response) => response.end(wave(samples)));
      const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
      const window = { channel: 'HNZ', start: at('00:00:00'), end: at('00:00:01') };
      return await catalogue.waveform(asId('s'), window, scopeOf());
    };
    expect((await read('[1,null,"NaN",-2.5]'))?.value.samples).toEqual([1, Number.NaN, Number.NaN, -2.5]);
    expect((await failureOf(read('[1,{}]'))).code).toBe('UPSTREAM_UNAVAILABLE');
    expect((await failureOf(read('null'))).code).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('loses no more of an event than its bad arrivals', async () => {
    await using upstream = await startUpstream();
    const body = '{"data":{"id":"e","stations":[{"station_code":"A"},null,{"distance_km":1}]}}';
    await using tiny = await startTiny((_, response) => response.end(body));
    const catalogue = upstream.catalogueWith({ baseUrl: tiny.url });
    const read = await catalogue.event(asId('e'), scopeOf());
    expect(read?.value.stations?.map(({ station_code }) => station_code)).toEqual(['A']);
  });
});

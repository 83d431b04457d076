import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';

const window = 'start=2026-01-01T00:00:00Z&end=2026-01-01T00:01:00Z';

describe('GET /waveforms/{catalogueId}/{channel}.mseed', () => {
  let gw: TestGateway;
  let sensor: string;
  beforeAll(async () => {
    gw = await startGateway({ sandbox: { rateLimits: false } });
    sensor = gw.sandbox.world.catalogue.sensors[0]?.id ?? '';
  });
  afterAll(() => gw.close());

  it('passes the miniSEED of the catalogue through, byte for byte', async () => {
    const response = await gw.fetch(`/waveforms/${sensor}/HNZ.mseed?${window}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/vnd.fdsn.mseed');
    const direct = await fetch(
      `${gw.sandbox.catalogueUrl}/v1/sensors/${sensor}/data?${window}&channel=HNZ&format=miniseed`,
      { headers: { authorization: `Bearer ${gw.sandbox.catalogueKey}` } },
    );
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.equals(Buffer.from(await direct.arrayBuffer()))).toBe(true);
    expect(bytes.length % 512).toBe(0);
    expect(bytes.length).toBeGreaterThan(0);
    expect(gw.sandbox.seen('catalogue').at(0)?.query).toEqual({
      start: '2026-01-01T00:00:00Z',
      end: '2026-01-01T00:01:00Z',
      channel: 'HNZ',
      format: 'miniseed',
    });
  });

  it.each([
    ['channel', `HHZ.mseed?${window}`],
    ['start', 'HNZ.mseed?end=2026-01-01T00:01:00Z'],
    ['start', 'HNZ.mseed?start=yesterday&end=2026-01-01T00:01:00Z'],
    ['end', 'HNZ.mseed?start=2026-01-01T00:01:00Z'],
    ['end', 'HNZ.mseed?start=2026-01-01T00:01:00Z&end=2026-01-01T00:00:00Z'],
  ])('says which argument is wrong: %s', async (argument, rest) => {
    const before = gw.sandbox.requests.length;
    const response = await gw.fetch(`/waveforms/${sensor}/${rest}`);
    expect(response.status).toBe(400);
    expect((await response.json()).errors[0].extensions).toEqual({ code: 'BAD_USER_INPUT', argument });
    expect(gw.sandbox.requests).toHaveLength(before);
  });

  it.each(['x', `${'%E0%A4'}/HNZ.mseed?${window}`, '../../v1/project', `a/b/HNZ.mseed?${window}`])(
    'has nothing at %s',
    async (path) => {
      const response = await gw.fetch(`/waveforms/${path}`);
      expect([400, 404]).toContain(response.status);
      expect((await response.json()).errors).toHaveLength(1);
    },
  );

  it('says 404 for a sensor that the catalogue does not have', async () => {
    const response = await gw.fetch(`/waveforms/nobody/HNZ.mseed?${window}`);
    expect([response.status, (await response.json()).errors[0].extensions.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('says 404 where there is no data, whether upstream answers 204 or nothing, instead of an empty file', async () => {
    for (const status of [200, 204]) {
      const headers = { 'content-type': 'application/vnd.fdsn.mseed' };
      gw.sandbox.faults.add({ source: 'catalogue', status, headers, body: '' });
      const response = await gw.fetch(`/waveforms/${sensor}/HNZ.mseed?${window}`);
      expect([response.status, (await response.json()).errors[0].extensions.code]).toEqual([
        404,
        'NOT_FOUND',
      ]);
    }
  });

  it('asks for what is named, whatever characters the id has', async () => {
    const before = gw.sandbox.requests.length;
    await gw.fetch(`/waveforms/${encodeURIComponent('../networks?x=1')}/HNZ.mseed?${window}`);
    const [asked] = gw.sandbox.requests.slice(before);
    expect(asked?.path).toBe(`/v1/sensors/${encodeURIComponent('../networks?x=1')}/data`);
  });

  it('answers an upstream failure with its code', async () => {
    const cases = [
      [{ status: 403 }, 403, 'FORBIDDEN'],
      [{ status: 401 }, 502, 'UPSTREAM_UNAUTHORIZED'],
      [{ status: 418 }, 502, 'UPSTREAM_UNAVAILABLE'],
    ] as const;
    for (const [fault, status, code] of cases) {
      gw.sandbox.faults.add({ source: 'catalogue', body: '{}', ...fault });
      const response = await gw.fetch(`/waveforms/${sensor}/HNZ.mseed?${window}`);
      expect([response.status, (await response.json()).errors[0].extensions.code]).toEqual([status, code]);
    }
  });
});

describe('a miniSEED stream', () => {
  const open = (gw: TestGateway, path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get(`${gw.url}${path}`, resolve).on('error', reject);
    });

  it('is cut, not ended, when upstream breaks off', async () => {
    await using gw = await startGateway();
    const sensor = gw.sandbox.world.catalogue.sensors[0]?.id;
    gw.sandbox.faults.add({ source: 'catalogue', truncate: true });
    const response = await open(gw, `/waveforms/${sensor}/HNZ.mseed?${window}`);
    const failure = await new Promise((resolve) => {
      response.on('error', resolve);
      response.on('end', () => resolve(null));
      response.resume();
    });
    expect(failure).toBeInstanceOf(Error);
  });

  it('ends upstream when the client goes, before and after its first byte', async () => {
    await using gw = await startGateway();
    const sensor = gw.sandbox.world.catalogue.sensors[0]?.id;
    gw.sandbox.faults.add({ source: 'catalogue', hang: true });
    const leaving = new AbortController();
    const waiting = gw.fetch(`/waveforms/${sensor}/HNZ.mseed?${window}`, { signal: leaving.signal });
    await vi.waitFor(() => expect(gw.sandbox.inFlight('catalogue')).toBe(1));
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await vi.waitFor(() => expect(gw.sandbox.inFlight('catalogue')).toBe(0), { timeout: 15_000 });

    // Hours of it: far more than the buffers on the way hold.
    const hours = 'start=2026-01-01T00:00:00Z&end=2026-01-01T06:00:00Z';
    const response = await open(gw, `/waveforms/${sensor}/HNZ.mseed?${hours}`);
    expect(response.statusCode).toBe(200);
    expect(gw.sandbox.inFlight('catalogue')).toBe(1);
    response.destroy();
    await vi.waitFor(() => expect(gw.sandbox.inFlight('catalogue')).toBe(0), { timeout: 15_000 });
  });

  it('needs a catalogue', async () => {
    await using gw = await startGateway({ catalogue: false });
    const response = await gw.fetch(`/waveforms/S1/HNZ.mseed?${window}`);
    expect([response.status, (await response.json()).errors[0].extensions.code]).toEqual([
      501,
      'NOT_CONFIGURED',
    ]);
  });
});

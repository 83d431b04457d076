import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ManualClock } from '../../src/clock.js';
import { startSandbox } from '../../src/sandbox/server.js';
import { ask } from './ask.js';

interface Schema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

describe('the description of the project interface', () => {
  it('is an OpenAPI 3.1 document that validates, served without a key', async () => {
    await using sandbox = await startSandbox({ clock: new ManualClock() });
    const { status, headers, text } = await ask(sandbox, 'project', '/v1/openapi.yaml', { key: null });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/yaml']);
    const validator = new Validator();
    const result = await validator.validate(text);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('has every path, and every parameter that the interface takes', async () => {
    await using sandbox = await startSandbox({ clock: new ManualClock(), rateLimits: false });
    const { text } = await ask(sandbox, 'project', '/v1/openapi.yaml', { key: null });
    const { paths } = parse(text) as {
      paths: Record<
        string,
        { get: { parameters?: { name: string; in: string; schema: { default?: unknown } }[] } }
      >;
    };
    expect(Object.keys(paths)).toEqual([
      '/v1/project',
      '/v1/sensors',
      '/v1/sensors/{id}',
      '/v1/sensors/{id}/soh',
      '/v1/events',
      '/v1/events/{id}',
      '/v1/triggers',
      '/v1/openapi.yaml',
    ]);
    const values: Record<string, string> = {
      ...{ from: '2026-01-01', to: '2026-01-02', limit: '1', offset: '0', order: 'asc' },
      ...{ min_magnitude: '1', bbox: '-180,-90,180,90', device_id: 'AAAAAAAAAAAA' },
    };
    const station = sandbox.world.project.sensors[0]?.station ?? '';
    for (const [path, { get }] of Object.entries(paths).filter(([known]) => !known.includes('events/'))) {
      const search = new URLSearchParams();
      for (const { name, in: place } of get.parameters ?? [])
        if (place === 'query') search.set(name, values[name] ?? '');
      const { status } = await ask(sandbox, 'project', `${path.replace('{id}', station)}?${search}`);
      expect([path, status]).toEqual([path, 200]);
    }
  });

  it('names the fields that are served', async () => {
    await using sandbox = await startSandbox({ clock: new ManualClock(), rateLimits: false });
    const { text } = await ask(sandbox, 'project', '/v1/openapi.yaml', { key: null });
    const { schemas } = (parse(text) as { components: { schemas: Record<string, Schema> } }).components;
    const first = async (path: string) => (await ask(sandbox, 'project', path)).body;
    const station = sandbox.world.project.sensors[0]?.station ?? '';
    const event = (await first('/v1/events?limit=1')).data[0];
    const served: Record<string, object> = {
      Project: await first('/v1/project'),
      SensorPage: await first('/v1/sensors?limit=1'),
      Sensor: await first(`/v1/sensors/${station}`),
      HealthPage: await first(`/v1/sensors/${station}/soh`),
      HealthReport: (await first(`/v1/sensors/${station}/soh?limit=1`)).data[0],
      Event: event,
      Origin: event.origin,
      EventDetail: await first(`/v1/events/${event.id}`),
      Trigger: (await first('/v1/triggers?limit=1')).data[0],
      Error: await first('/v1/nothing'),
    };
    for (const [name, record] of Object.entries(served)) {
      expect([name, ...Object.keys(record).sort()]).toEqual([
        name,
        ...Object.keys(schemas[name]?.properties ?? {}).sort(),
      ]);
    }
  });
});

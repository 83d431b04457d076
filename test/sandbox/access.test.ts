import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/clock.js';
import { aCatalogueEvent, aSensor } from '../../src/sandbox/builders.js';
import { type SandboxOptions, startSandbox, type Tier } from '../../src/sandbox/server.js';
import {
  addCatalogueKey,
  addProjectKey,
  emptyCatalogue,
  emptyProject,
  emptyWorld,
} from '../../src/sandbox/world.js';
import { ask } from './ask.js';

const start = (options: SandboxOptions = {}) =>
  startSandbox({ world: emptyWorld(), clock: new ManualClock(), ...options });

describe('keys', () => {
  it.each([
    ['no header', undefined],
    ['another scheme', 'Basic svc_sk_sandbox'],
    ['no key', 'Bearer '],
    ['a key without the prefix', 'Bearer sandbox'],
    ['an unknown key', 'Bearer svc_sk_other'],
    ['two words', 'Bearer svc_sk_sandbox x'],
  ])('%s is 401 unauthorized', async (_name, authorization) => {
    await using sandbox = await start();
    const options = authorization === undefined ? { key: null } : { authorization };
    const { status, body } = await ask(sandbox, 'project', '/v1/project', options);
    expect([status, body.error.code]).toEqual([401, 'unauthorized']);
  });

  it('need the prefix, whatever else knows them', async () => {
    const world = emptyWorld();
    world.projectKeys.set('plain', { id: 'key_3', data: world.project });
    await using sandbox = await start({ world });
    expect((await ask(sandbox, 'project', '/v1/project', { key: 'plain' })).status).toBe(401);
  });

  it('read exactly one project each', async () => {
    const world = emptyWorld();
    const other = emptyProject({ id: 'prj_other' });
    other.sensors.push(aSensor({ station: 'OTHR', device_id: 'FFFFFFFFFFFF' }));
    const key = addProjectKey(world, other);
    const second = addProjectKey(world, other);
    await using sandbox = await start({ world });
    const project = await ask(sandbox, 'project', '/v1/project', { key });
    expect(project.body).toMatchObject({ id: 'prj_other', sensor_count: 1, api_key_id: 'key_3' });
    expect((await ask(sandbox, 'project', '/v1/project', { key: second })).body.api_key_id).toBe('key_4');
    expect((await ask(sandbox, 'project', '/v1/sensors/OTHR', { key })).status).toBe(200);
    expect((await ask(sandbox, 'project', '/v1/sensors/OTHR')).status).toBe(404);
  });

  it('read one catalogue each, and may lack permission for a part of it', async () => {
    const world = emptyWorld();
    const other = emptyCatalogue();
    other.events.push(aCatalogueEvent({ id: 'theirs' }));
    const key = addCatalogueKey(world, other, /^\/v1\/networks/);
    await using sandbox = await start({ world });
    expect((await ask(sandbox, 'catalogue', '/v1/events/theirs', { key })).status).toBe(200);
    expect((await ask(sandbox, 'catalogue', '/v1/events/theirs')).status).toBe(404);
    const refused = await ask(sandbox, 'catalogue', '/v1/networks/net_1', { key });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
  });

  it('stop working when revoked', async () => {
    await using sandbox = await start();
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(200);
    sandbox.revoke(sandbox.projectKey);
    sandbox.revoke(sandbox.catalogueKey);
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(401);
    expect((await ask(sandbox, 'catalogue', '/v1/networks')).status).toBe(401);
    expect((await ask(sandbox, 'project', '/v1/project', { key: sandbox.maskedProjectKey })).status).toBe(
      200,
    );
  });

  it('are seen in the list of requests only as a hash', async () => {
    await using sandbox = await start();
    await ask(sandbox, 'project', '/v1/project');
    await ask(sandbox, 'project', '/v1/project');
    await ask(sandbox, 'project', '/v1/project', { key: sandbox.maskedProjectKey });
    await ask(sandbox, 'project', '/v1/project', { key: null });
    const hashes = sandbox.seen('project').map((request) => request.keyHash);
    expect(hashes[0]).toBe(hashes[1]);
    expect(new Set(hashes).size).toBe(3);
    expect(hashes[3]).toBeNull();
    expect(JSON.stringify(sandbox.requests)).not.toContain('svc_sk_');
  });
});

describe('the limit of a project key', () => {
  it('lets a burst of 20 through, then one a second', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock });
    const status = async () => (await ask(sandbox, 'project', '/v1/project')).status;
    for (let request = 0; request < 20; request++) expect(await status()).toBe(200);
    const refused = await ask(sandbox, 'project', '/v1/project');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toBe('1');
    await clock.advance(999);
    expect(await status()).toBe(429);
    await clock.advance(1);
    expect(await status()).toBe(200);
    expect(await status()).toBe(429);
    await clock.advance(3_600_000);
    for (let request = 0; request < 20; request++) expect(await status()).toBe(200);
    expect(await status()).toBe(429);
  });

  it('says in whole seconds how long to wait', async () => {
    await using sandbox = await start({ rateLimits: { projectPerMinute: 4, projectBurst: 1 } });
    await ask(sandbox, 'project', '/v1/project');
    const { headers } = await ask(sandbox, 'project', '/v1/project');
    expect(headers.get('retry-after')).toBe('15');
  });

  it('is of each key alone, and spares the description', async () => {
    await using sandbox = await start({ rateLimits: { projectBurst: 1 } });
    await ask(sandbox, 'project', '/v1/project');
    expect((await ask(sandbox, 'project', '/v1/project')).status).toBe(429);
    expect((await ask(sandbox, 'project', '/v1/project', { key: sandbox.maskedProjectKey })).status).toBe(
      200,
    );
    expect((await ask(sandbox, 'project', '/v1/openapi.yaml', { key: null })).status).toBe(200);
  });
});

describe('the limit of a catalogue key', () => {
  it.each([
    ['free', 60],
    ['standard', 300],
    ['premium', 1000],
  ] as const)('of the %s tier is %i a minute, told by the headers', async (catalogueTier: Tier, limit) => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock, catalogueTier });
    const { headers } = await ask(sandbox, 'catalogue', '/v1/networks');
    expect(headers.get('x-ratelimit-limit')).toBe(String(limit));
    expect(headers.get('x-ratelimit-remaining')).toBe(String(limit - 1));
    expect(headers.get('x-ratelimit-reset')).toBe(String(clock.wallMs() / 1000 + 60));
  });

  it('gives 429 when it is used up, until the minute is over', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({
      clock,
      rateLimits: { cataloguePerMinute: 2 },
      catalogueResetUnit: 'delta',
    });
    await ask(sandbox, 'catalogue', '/v1/networks');
    await clock.advance(20_000);
    await ask(sandbox, 'catalogue', '/v1/networks');
    const refused = await ask(sandbox, 'catalogue', '/v1/networks');
    expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
    expect(refused.headers.get('x-ratelimit-reset')).toBe('40');
    await clock.advance(40_000);
    expect((await ask(sandbox, 'catalogue', '/v1/networks')).status).toBe(200);
  });

  it('also counts the day', async () => {
    const clock = new ManualClock();
    await using sandbox = await start({ clock, rateLimits: { cataloguePerDay: 3 } });
    for (let request = 0; request < 3; request++) await ask(sandbox, 'catalogue', '/v1/networks');
    await clock.advance(3_600_000);
    const refused = await ask(sandbox, 'catalogue', '/v1/networks');
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, '3']);
    await clock.advance(23 * 3_600_000);
    expect((await ask(sandbox, 'catalogue', '/v1/networks')).status).toBe(200);
  });

  it('can be switched off', async () => {
    await using sandbox = await start({ rateLimits: false });
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        ask(sandbox, index % 2 ? 'project' : 'catalogue', index % 2 ? '/v1/project' : '/v1/networks'),
      ),
    );
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { worldOf } from './sensors-world.js';

const fields = 'id projectId name networkCode sensorCount locationMasked apiKeyId';

describe('the project', () => {
  it('is what the key reads, and a node', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(2) } });
    const { project } = await gw.query(`{ project { ${fields} } }`);
    expect(project).toEqual({
      id: Buffer.from('Project:prj_1').toString('base64url'),
      projectId: 'prj_1',
      name: 'Sandbox network',
      networkCode: 'SX',
      sensorCount: 2,
      locationMasked: false,
      apiKeyId: 'key_1',
    });
    const again = await gw.query(`query ($id: ID!) { node(id: $id) { ... on Project { ${fields} } } }`, {
      id: project.id,
    });
    expect(again.node).toEqual(project);
    const other = Buffer.from('Project:prj_2').toString('base64url');
    expect(await gw.query('query ($id: ID!) { node(id: $id) { id } }', { id: other })).toEqual({
      node: null,
    });
    expect(gw.sandbox.requests).toHaveLength(1);
  });

  it('is null where its interface is not configured, without an error', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) }, project: false });
    expect(await gw.query('{ project { name } }')).toEqual({ project: null });
  });

  it('is null with the reason when it cannot be read', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    gw.sandbox.revoke(gw.sandbox.projectKey);
    const { data, errors } = await gw.queryWithErrors('{ project { name } networks { name } }');
    expect(data).toEqual({ project: null, networks: [{ name: 'Name of net_1' }] });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['project'], 'UPSTREAM_UNAUTHORIZED'],
    ]);
  });

  it.each([null, 'many', 3e9, 1.5])(
    'is answered whole where it says that it has %j sensors, which its list counts too',
    async (sensorCount) => {
      await using gw = await startGateway({ sandbox: { world: worldOf(2) } });
      gw.sandbox.faults.add({
        source: 'project',
        path: '/v1/project',
        times: 9,
        rewrite: (body) => ({ ...(body as object), sensor_count: sensorCount }),
      });
      expect(await gw.query('{ project { name sensorCount } }')).toEqual({
        project: { name: 'Sandbox network', sensorCount: 2 },
      });
      expect(gw.sandbox.requests).toHaveLength(2);
    },
  );

  it('is masked as long as it does not say that it is not, and keeps what else it says', async () => {
    await using gw = await startGateway({ sandbox: { world: worldOf(1) } });
    gw.sandbox.faults.add({
      source: 'project',
      path: '/v1/project',
      times: 9,
      rewrite: (body) => ({
        ...(body as object),
        location_masked: null,
        name: null,
        region: 'unknown field',
      }),
    });
    expect(await gw.query('{ project { name locationMasked networkCode } }')).toEqual({
      project: { name: '', locationMasked: true, networkCode: 'SX' },
    });
  });
});

import { readProject, sensorCountOf } from '../../unify/project.js';
import { builder } from '../builder.js';
import { cost } from '../cost.js';
import { loadEach } from '../load-nodes.js';
import { nodeKey } from '../node-id.js';
import { ProjectRef } from '../refs.js';

builder.node(ProjectRef, {
  description: 'The project that the key reads (key-scoped §2).',
  id: nodeKey((project) => project.projectId),
  loadManyWithoutCache: (ids, { unify }) =>
    loadEach(ids, async (id) => {
      const project = await readProject(unify);
      return project?.projectId === id ? project : null;
    }),
  fields: (t) => ({
    projectId: t.exposeString('projectId', { nullable: false, description: "Upstream's identifier." }),
    name: t.exposeString('name', { nullable: false, description: 'Name.' }),
    networkCode: t.exposeString('networkCode', { nullable: false, description: 'Seismic network code.' }),
    sensorCount: t.int({
      nullable: false,
      description:
        'Number of sensors, as the project counts them. Where its record does not say, its list of sensors is asked.',
      extensions: cost({ requests: () => 1 }),
      resolve: (project, _, { unify }) => sensorCountOf(unify, project),
    }),
    locationMasked: t.exposeBoolean('locationMasked', {
      nullable: false,
      description:
        'Whether positions are displaced by 500 to 1000 m and names of sites withheld. True also while upstream does not say.',
    }),
    apiKeyId: t.exposeString('apiKeyId', {
      nullable: false,
      description: 'Identifier of the key in use, never the key.',
    }),
  }),
});

builder.queryField('project', (t) =>
  t.field({
    type: ProjectRef,
    description: 'The project of the key. Null where the project interface is not configured.',
    extensions: cost({ requests: () => 1 }),
    resolve: (_, __, { unify }) => readProject(unify),
  }),
);

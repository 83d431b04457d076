import { readProject, sensorCountOf } from '../../unify/project.js';
import { builder } from '../builder.js';
import { cost } from '../limits/cost.js';
import { loadEach } from '../load-nodes.js';
import { nodeKey } from '../node-id.js';
import { ProjectRef } from '../refs.js';

builder.node(ProjectRef, {
  description: 'The project that the key of the project interface reads. A key reads exactly one project.',
  id: nodeKey((project) => project.projectId),
  loadManyWithoutCache: (ids, { unify }) =>
    loadEach(ids, async (id) => {
      const project = await readProject(unify);
      return project?.projectId === id ? project : null;
    }),
  fields: (t) => ({
    projectId: t.exposeString('projectId', {
      nullable: false,
      description: 'Identifier of the project in the project interface.',
    }),
    name: t.exposeString('name', { nullable: false, description: 'Name of the project.' }),
    networkCode: t.exposeString('networkCode', {
      nullable: false,
      description: "Seismic network code of the project's stations.",
    }),
    sensorCount: t.int({
      nullable: false,
      description:
        "Number of sensors, as the project's record counts them. Where the record does not say, the " +
        'list of sensors is counted, which costs one request to the service.',
      extensions: cost({ requests: () => 1 }),
      resolve: (project, _, { unify }) => sensorCountOf(unify, project),
    }),
    locationMasked: t.exposeBoolean('locationMasked', {
      nullable: false,
      description:
        'True while location masking is on: sensor positions are displaced by 500 to 1000 m, ' +
        'elevations are rounded to 100 m, and names of sites and GPS positions are withheld. True also ' +
        'as long as the service has not said.',
    }),
    apiKeyId: t.exposeString('apiKeyId', {
      nullable: false,
      description: 'Identifier of the API key in use; never the key itself.',
    }),
  }),
});

builder.queryField('project', (t) =>
  t.field({
    type: ProjectRef,
    description:
      'Project of the key in use; null when the project interface is not configured. Costs one request ' +
      'to the service. Errors: UPSTREAM_UNAUTHORIZED, UPSTREAM_RATE_LIMITED, UPSTREAM_TIMEOUT, ' +
      'UPSTREAM_UNAVAILABLE.',
    extensions: cost({ requests: () => 1 }),
    resolve: (_, __, { unify }) => readProject(unify),
  }),
);

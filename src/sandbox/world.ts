import type { CatalogueEvent, CatalogueNetwork, CatalogueSensor, NetworkStats } from './catalogue/records.js';
import type {
  HealthReport,
  ProjectEvent,
  ProjectRecord,
  ProjectSensor,
  ProjectTrigger,
} from './project/records.js';
import { silence, type WaveformSource } from './simulation/motion/waveform.js';

/** Two projects and a catalogue without a record in them, under the default keys. */
export function emptyWorld(): World {
  const project = emptyProject({ id: 'prj_1', name: 'Sandbox network', network_code: 'SX' });
  const maskedProject = emptyProject({
    id: 'prj_2',
    name: 'Masked sandbox network',
    network_code: 'SM',
    location_masked: true,
  });
  const catalogue = emptyCatalogue();
  return {
    project,
    maskedProject,
    catalogue,
    projectKeys: new Map([
      ['svc_sk_sandbox', { id: 'key_1', data: project }],
      ['svc_sk_sandbox_masked', { id: 'key_2', data: maskedProject }],
    ]),
    catalogueKeys: new Map([['sandbox-catalogue-key', { data: catalogue }]]),
    advance: () => {},
  };
}

/** Everything both interfaces know. Tests may edit any part at any time; the next answer shows it. */
export interface World {
  /** The project that the sandbox's `projectKey` reads. */
  project: ProjectData;
  /** The project that the sandbox's `maskedProjectKey` reads: its location masking is on. */
  maskedProject: ProjectData;
  /** The organisation that the sandbox's `catalogueKey` reads. */
  catalogue: CatalogueData;
  /** docs/interfaces.md P5: each key reads exactly one project; several keys may read the same one. */
  projectKeys: Map<string, ProjectKey>;
  catalogueKeys: Map<string, CatalogueKey>;
  /** Lets everything happen that is due by `nowMs`; called before each answer while the sandbox is live. */
  advance(nowMs: number): void;
}

export interface ProjectKey {
  /** `api_key_id` of docs/interfaces.md P2. */
  id: string;
  data: ProjectData;
}

export interface CatalogueKey {
  data: CatalogueData;
  /** Paths (`/v1/…`) that answer 403 to this key: insufficient permissions (docs/interfaces.md C5). */
  forbidden?: RegExp;
}

export interface ProjectData {
  project: ProjectRecord;
  sensors: ProjectSensor[];
  events: ProjectEvent[];
  triggers: ProjectTrigger[];
  /** By Device ID, or made on demand: oldest first, after `afterMs` (exclusive) and up to `toMs` (inclusive). */
  healthReports:
    | Record<string, HealthReport[]>
    | ((deviceId: string, afterMs: number, toMs: number) => Iterable<HealthReport>);
  /** Status that /v1/events answers with: other than 200 for a plan without earthquake detection (docs/interfaces.md P1). */
  eventsStatus: 200 | 403 | 404;
  /** True when an event's detail repeats the list's fields beside the solutions; docs/interfaces.md P2 leaves it open. */
  detailRepeatsListFields: boolean;
}

export interface CatalogueData {
  sensors: CatalogueSensor[];
  events: CatalogueEvent[];
  networks: CatalogueNetwork[];
  /** By network id; a network that is not here has its statistics counted from the records. */
  stats: Record<string, NetworkStats>;
  waveforms: WaveformSource;
}

export function emptyProject(project: Partial<ProjectRecord> = {}): ProjectData {
  return {
    project: {
      id: 'prj',
      name: 'Project',
      network_code: 'XX',
      sensor_count: null,
      location_masked: false,
      ...project,
    },
    sensors: [],
    events: [],
    triggers: [],
    healthReports: {},
    eventsStatus: 200,
    detailRepeatsListFields: true,
  };
}

export function emptyCatalogue(): CatalogueData {
  return { sensors: [], events: [], networks: [], stats: {}, waveforms: silence };
}

/** Gives the world another key for `data`, of a new project unless it is one of the world's; returns the key. */
export function addProjectKey(world: World, data: ProjectData): string {
  const number = world.projectKeys.size + 1;
  const key = `svc_sk_sandbox_${number}`;
  world.projectKeys.set(key, { id: `key_${number}`, data });
  return key;
}

/** Gives the world another catalogue key; returns the key. */
export function addCatalogueKey(world: World, data: CatalogueData, forbidden?: RegExp): string {
  const key = `sandbox-catalogue-key-${world.catalogueKeys.size + 1}`;
  world.catalogueKeys.set(key, forbidden ? { data, forbidden } : { data });
  return key;
}

import { aCatalogueEvent, anEvent } from '../../src/sandbox/builders.js';
import type { CatalogueEvent } from '../../src/sandbox/catalogue/records.js';
import type { ProjectEvent } from '../../src/sandbox/project/records.js';
import { emptyWorld, type World } from '../../src/sandbox/world.js';
import { clockRunningFrom } from '../support/clock.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';

/** When the first event of a test begins. */
export const startMs = Date.UTC(2026, 2, 8, 12);

export const timeOf = (afterS: number) => new Date(startMs + afterS * 1000).toISOString();

/** It is a day after the first event; budget is not what these tests are about. */
export function gatewayOf(
  events: { readonly project?: readonly ProjectEvent[]; readonly catalogue?: readonly CatalogueEvent[] },
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  return startGateway({
    clock: clockRunningFrom(startMs + 86_400_000),
    ...options,
    sandbox: { world: worldOf(events), rateLimits: false, ...options.sandbox },
    env: {
      PROJECT_RATE_PER_MINUTE: '6000',
      PROJECT_RATE_BURST: '1000',
      CATALOGUE_TIER: 'premium',
      ...options.env,
    },
  });
}

function worldOf(events: {
  readonly project?: readonly ProjectEvent[];
  readonly catalogue?: readonly CatalogueEvent[];
}): World {
  const world = emptyWorld();
  world.project.events.push(...(events.project ?? []));
  world.catalogue.events.push(...(events.catalogue ?? []));
  return world;
}

/** An event of the project that begins so many seconds after the start and is issued `lagS` later. */
export function quake(
  id: string,
  afterS: number,
  fields: Partial<ProjectEvent> & { lagS?: number } = {},
): ProjectEvent {
  const { lagS = 20, ...rest } = fields;
  const originS = startMs / 1000 + afterS;
  const origin = {
    id: `${id}-o`,
    latitude: 34.1,
    longitude: -118.3,
    depth: 8.2,
    origin_time: originS,
    issued_at: originS + lagS,
  };
  return anEvent({ id, issued_at: timeOf(afterS + lagS), origin, origins: [origin], ...rest });
}

export function listed(id: string, afterS: number, fields: Partial<CatalogueEvent> = {}): CatalogueEvent {
  return aCatalogueEvent({ id, origin_time: timeOf(afterS), ...fields });
}

export const listQuery = `query ($first: Int, $after: String, $orderBy: EventOrder! = ORIGIN_TIME_DESC, $filter: EventFilter) {
  events(first: $first, after: $after, orderBy: $orderBy, filter: $filter) {
    nodes { projectEventId catalogueEventId originTime sources }
    edges { cursor }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    unavailableSources { source code message retryAfterS }
  }
}`;

export interface ListedNode {
  readonly projectEventId: string | null;
  readonly catalogueEventId: string | null;
  readonly originTime: string;
  readonly sources: readonly string[];
}

/** The ids that each event is known by, the project's first. */
export const idsOf = (nodes: readonly ListedNode[]): string[] =>
  nodes.map(({ projectEventId, catalogueEventId }) =>
    [projectEventId, catalogueEventId].filter((id) => id !== null).join('+'),
  );

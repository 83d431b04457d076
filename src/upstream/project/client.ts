import type { DeviceId, ProjectEventId } from '../decode/fields.js';
import type { UpstreamClient } from '../read/client.js';
import type { Page, Read, ReadScope } from '../read/read.js';
import type {
  WireEvent,
  WireEventDetail,
  WireHealthPage,
  WireProject,
  WireSensor,
  WireTrigger,
} from './wire.js';

export interface Paging {
  /** 1 to 500. */
  readonly limit: number;
  readonly offset: number;
}

/** Times are RFC 3339 as docs/interfaces.md P4 takes them. */
export interface EventQuery extends Paging {
  /** Issued at or after. */
  readonly from?: string | undefined;
  /** Issued at or before. */
  readonly to?: string | undefined;
  readonly minMagnitude?: number | undefined;
  /** min_lon, min_lat, max_lon, max_lat; never across the antimeridian. */
  readonly bbox?: readonly [number, number, number, number] | undefined;
  readonly order: 'asc' | 'desc';
}

export interface TriggerQuery extends Paging {
  /** Started at or after. */
  readonly from?: string | undefined;
  /** Started at or before. */
  readonly to?: string | undefined;
  readonly deviceId?: DeviceId | undefined;
  readonly order: 'asc' | 'desc';
}

export interface HealthQuery {
  /** Exclusive. */
  readonly from?: string | undefined;
  /** Inclusive. */
  readonly to?: string | undefined;
  /** 1 to 5000. */
  readonly limit?: number | undefined;
}

/**
 * One function per row of docs/interfaces.md P4. A single resource that does not exist is null; a list that is refused
 * with 403 or 404 throws `Forbidden`. Every other failure is a `GatewayError` of `errors.ts`.
 */
export interface ProjectClient extends UpstreamClient {
  project(scope: ReadScope): Promise<Read<WireProject>>;
  /** Ordered by station code. */
  sensors(query: Paging, scope: ReadScope): Promise<Read<Page<WireSensor>>>;
  /** By Device ID or station code. */
  sensor(id: string, scope: ReadScope): Promise<Read<WireSensor> | null>;
  /** Oldest first; the range is at most 7 days. */
  healthReports(id: DeviceId, query: HealthQuery, scope: ReadScope): Promise<Read<WireHealthPage> | null>;
  /** Ordered by issue time. */
  events(query: EventQuery, scope: ReadScope): Promise<Read<Page<WireEvent>>>;
  event(id: ProjectEventId, scope: ReadScope): Promise<Read<WireEventDetail> | null>;
  /** True where an event that a feed has delivered is as good as a cached response, by the rules of a detail. */
  servesDelivered(event: Read<WireEvent>, scope: ReadScope): boolean;
  /** Ordered by start time. */
  triggers(query: TriggerQuery, scope: ReadScope): Promise<Read<Page<WireTrigger>>>;
  /** True where `triggers` does not wait for upstream. */
  hasTriggersAtHand(query: TriggerQuery, scope: ReadScope): boolean;
}

import type { Readable } from 'node:stream';
import type { CatalogueEventId, CatalogueSensorId, NetworkId } from '../decode/fields.js';
import type { UpstreamClient } from '../read/client.js';
import type { Page, Read, ReadScope } from '../read/read.js';
import type {
  WireEvent,
  WireEventDetail,
  WireNetwork,
  WireNetworkStatistics,
  WireSensor,
  WireSensorDetail,
  WireWaveform,
} from './wire.js';

export interface Paging {
  /** From 1. */
  readonly page: number;
  /** At most 100 for sensors (docs/interfaces.md C8); the maximum for events is not shown. */
  readonly limit: number;
}

export interface SensorQuery extends Paging {
  readonly networkId?: NetworkId | undefined;
  readonly status?: 'online' | 'offline' | undefined;
}

/** Times are RFC 3339. The documentation does not say if the ends are inclusive: callers must rely on neither. */
export interface EventQuery extends Paging {
  readonly networkId?: NetworkId | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly minMagnitude?: number | undefined;
  readonly maxMagnitude?: number | undefined;
  /** Radius search in kilometres. */
  readonly near?:
    | { readonly latitude: number; readonly longitude: number; readonly radiusKm: number }
    | undefined;
}

export interface WaveformQuery {
  readonly channel: string;
  readonly start: string;
  readonly end: string;
}

/** A page with the size that the catalogue applied, which can differ from the one requested. */
export interface CataloguePage<T> extends Page<T> {
  /** `pagination.limit`: the page size that was applied; the requested one where upstream gave none. */
  readonly limit: number;
}

/**
 * One function per row of docs/interfaces.md C4. A single resource that does not exist is null; a list that is refused
 * with 403 or 404 throws `Forbidden`. Every other failure is a `GatewayError` of `errors.ts`.
 */
export interface CatalogueClient extends UpstreamClient {
  /** The order of the list is not shown. */
  sensors(query: SensorQuery, scope: ReadScope): Promise<Read<CataloguePage<WireSensor>>>;
  sensor(id: CatalogueSensorId, scope: ReadScope): Promise<Read<WireSensorDetail> | null>;
  waveform(
    sensorId: CatalogueSensorId,
    query: WaveformQuery,
    scope: ReadScope,
  ): Promise<Read<WireWaveform> | null>;
  /** miniSEED as it arrives; destroying the stream ends the upstream request. */
  waveformStream(
    sensorId: CatalogueSensorId,
    query: WaveformQuery,
    scope: ReadScope,
  ): Promise<Readable | null>;
  /** The order of the list is not shown. */
  events(query: EventQuery, scope: ReadScope): Promise<Read<CataloguePage<WireEvent>>>;
  /** The largest page of events that upstream is known to grant; it can shrink. */
  largestEventPage(): number;
  event(id: CatalogueEventId, scope: ReadScope): Promise<Read<WireEventDetail> | null>;
  /** True where an event that a feed has delivered is as good as a cached response, by the rules of a detail. */
  servesDelivered(event: Read<WireEvent>, scope: ReadScope): boolean;
  networks(scope: ReadScope): Promise<Read<readonly WireNetwork[]>>;
  network(id: NetworkId, scope: ReadScope): Promise<Read<WireNetwork> | null>;
  networkStatistics(id: NetworkId, scope: ReadScope): Promise<Read<WireNetworkStatistics> | null>;
}

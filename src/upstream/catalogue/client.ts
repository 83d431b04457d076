import type { Readable } from 'node:stream';
import type { Delivered } from '../cache/delivered.js';
import type { DerivedCache } from '../cache/derived-cache.js';
import type { Page, Read, ReadScope, UpstreamStatus } from '../read/read.js';
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
  readonly networkId?: string | undefined;
  readonly status?: 'online' | 'offline' | undefined;
}

/** Times are RFC 3339. Whether the ends are inclusive is not shown: nobody may rely on either. */
export interface EventQuery extends Paging {
  readonly networkId?: string | undefined;
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

/** How the page and its total were cut, which the catalogue may decide otherwise than asked. */
export interface CataloguePage<T> extends Page<T> {
  /** `pagination.limit`: the page size that was applied; as asked where upstream did not say. */
  readonly limit: number;
}

/**
 * One function per row of docs/interfaces.md C4. A single resource that is not there is null; a list that is refused with 403
 * or 404 throws `Forbidden`. Every other failure is a `GatewayError` of `errors.ts`.
 */
export interface CatalogueClient {
  /** The order of the list is not shown. */
  sensors(query: SensorQuery, scope: ReadScope): Promise<Read<CataloguePage<WireSensor>>>;
  sensor(id: string, scope: ReadScope): Promise<Read<WireSensorDetail> | null>;
  waveform(sensorId: string, query: WaveformQuery, scope: ReadScope): Promise<Read<WireWaveform> | null>;
  /** miniSEED as it arrives; destroying the stream ends the upstream request. */
  waveformStream(sensorId: string, query: WaveformQuery, scope: ReadScope): Promise<Readable | null>;
  /** The order of the list is not shown. */
  events(query: EventQuery, scope: ReadScope): Promise<Read<CataloguePage<WireEvent>>>;
  event(id: string, scope: ReadScope): Promise<Read<WireEventDetail> | null>;
  networks(scope: ReadScope): Promise<Read<readonly WireNetwork[]>>;
  network(id: string, scope: ReadScope): Promise<Read<WireNetwork> | null>;
  networkStatistics(id: string, scope: ReadScope): Promise<Read<WireNetworkStatistics> | null>;
  status(): UpstreamStatus;
  /** Whether what was read with this key before may be shown without asking upstream again (docs/behaviour.md 7). */
  mayShowKept(): boolean;
  /** For what is made of many answers and kept like one. */
  readonly derivedCache: DerivedCache;
  /** A feed is about to deliver this: nothing that lacks it is served from now on (docs/behaviour.md 5.7). */
  delivering(delivered: Delivered): void;
  /** Nothing read before this moment, finished or in flight, is served from the cache again. */
  discardCache(): void;
  /** Ends what is in flight and forgets what was read: whoever the key belongs to has gone. */
  close(): void;
}

import fc from 'fast-check';
import { type ForwardMs, longAgo, ManualClock } from '../../src/clock.js';
import { createLog } from '../../src/log.js';
import { Tenant, UnifyContext } from '../../src/unify/context.js';
import { distanceKm } from '../../src/unify/geo/geodesy.js';
import { Instant } from '../../src/unify/time/instant.js';
import type {
  CatalogueClient,
  CataloguePage,
  EventQuery as CatalogueQuery,
} from '../../src/upstream/catalogue/client.js';
import { withDelivered as withCatalogueEvents } from '../../src/upstream/catalogue/event-page.js';
import {
  eventShape as catalogueShape,
  type WireEvent as WireCatalogueEvent,
} from '../../src/upstream/catalogue/wire.js';
import type { ProjectClient, EventQuery as ProjectQuery } from '../../src/upstream/project/client.js';
import { withDelivered as withProjectEvents } from '../../src/upstream/project/event-page.js';
import {
  eventShape as projectShape,
  type WireEvent as WireProjectEvent,
} from '../../src/upstream/project/wire.js';
import { newCostMeter, type Page, type Read, type ReadScope } from '../../src/upstream/read/read.js';
import { date } from '../support/moments.js';

/** An earthquake as the project has it. */
export interface ProjectQuake {
  id: string;
  originMs: number;
  issuedMs: number;
  latitude: number;
  longitude: number;
  depthKm: number | null;
  magnitude: number | null;
  /** Earlier solutions. */
  origins: { originMs: number; issuedMs: number }[];
}

/** An earthquake as the catalogue has it. */
export interface CatalogueQuake {
  id: string;
  originMs: number;
  latitude: number;
  longitude: number;
  depthKm: number | null;
  magnitude: number | null;
  networkId: string | null;
}

export interface WorldChoices {
  /** Fewer than asked for: as if lists were longer than they are. */
  readonly projectPage: number;
  readonly cataloguePage: number;
  /** Whether `start` and `end` are inclusive. */
  readonly inclusive: boolean;
  /** The order of the catalogue's list; `none` follows nothing. */
  readonly order: 'none' | 'newest' | 'oldest';
  readonly seed: number;
  /** As the clients do: an answer of the last ten seconds is given again, unless it must not be so old. */
  readonly caches: boolean;
  /** Whether events of one moment are in another order in each response. */
  readonly unsteady: boolean;
  /** As where a feed is listened to: answers take in what was delivered (docs/behaviour.md 5.7). */
  readonly takesIn: boolean;
}

/** Both lists of events in memory, by the letter of docs/interfaces.md P4 and C4; what is not shown is a choice. */
export class EventWorld {
  readonly clock = new ManualClock(Date.UTC(2026, 2, 8));
  readonly project: ProjectQuake[];
  readonly catalogue: CatalogueQuake[];
  requests = { project: 0, catalogue: 0, details: 0 };
  /** Called before each answer: what happens in the world meanwhile. */
  meanwhile: () => void = () => {};
  /** Set to make an interface fail from now on. */
  failures: { project?: Error; catalogue?: Error } = {};
  #reads = 0;
  readonly #choices: WorldChoices;
  readonly #tenant: Tenant;
  readonly #delivered = {
    project: [] as Read<WireProjectEvent>[],
    catalogue: [] as Read<WireCatalogueEvent>[],
  };

  constructor(project: ProjectQuake[], catalogue: CatalogueQuake[], choices: Partial<WorldChoices> = {}) {
    this.project = project.map((quake) => ({ ...quake, origins: [...quake.origins] }));
    this.catalogue = catalogue.map((quake) => ({ ...quake }));
    this.#choices = {
      projectPage: 500,
      cataloguePage: 100,
      inclusive: true,
      order: 'none',
      seed: 1,
      caches: false,
      takesIn: false,
      unsteady: false,
      ...choices,
    };
    this.#tenant = this.tenant();
  }

  /** Another instance of the gateway: nothing is remembered. */
  tenant(): Tenant {
    return new Tenant({
      project: this.#projectClient(),
      catalogue: this.#catalogueClient(),
      clock: this.clock,
      log: createLog({ level: 'silent', secrets: [] }),
      signal: new AbortController().signal,
    });
  }

  context(tenant = this.#tenant): UnifyContext {
    return new UnifyContext(tenant, {
      signal: new AbortController().signal,
      priority: 'query',
      operationKey: {},
      meter: newCostMeter(),
    });
  }

  /** A feed has just read this record. */
  deliverProject(quake: ProjectQuake): void {
    this.#delivered.project.push({ value: projectRecord(quake), readAtMs: this.clock.now() });
  }

  deliverCatalogue(quake: CatalogueQuake): void {
    this.#delivered.catalogue.push({ value: catalogueRecord(quake), readAtMs: this.clock.now() });
  }

  deliverAll(): void {
    for (const quake of this.project) this.deliverProject(quake);
    for (const quake of this.catalogue) this.deliverCatalogue(quake);
  }

  async #cached<T, Rec>(
    cached: Map<string, Read<T>>,
    query: unknown,
    { maxAgeMs, notBeforeMs = longAgo }: ReadScope,
    read: () => Promise<Read<T>>,
    deliveries: readonly Read<Rec>[],
    takeIn: (answer: Read<T>, delivered: readonly Read<Rec>[]) => T | null,
  ): Promise<Read<T>> {
    // A loop over cached answers alone would never let a test time out.
    if (++this.#reads > mostReads) throw new Error('reads on and on from the cache');
    const since = (ms: number) =>
      this.#choices.takesIn ? deliveries.filter(({ readAtMs }) => readAtMs >= ms) : [];
    const name = JSON.stringify(query);
    const known = cached.get(name);
    const freshFromMs = this.clock.now() - Math.min(10_000, maxAgeMs ?? Number.POSITIVE_INFINITY);
    const oldestMs = Math.max(freshFromMs, notBeforeMs);
    if (this.#choices.caches && known && known.readAtMs >= oldestMs) {
      const value = takeIn(known, since(known.readAtMs));
      if (value !== null) return { ...known, value };
    }
    const answer = await read();
    const value = takeIn(answer, since(answer.readAtMs - 10_000)) ?? answer.value;
    cached.set(name, { ...answer, value });
    return { ...answer, value };
  }

  async #happens(): Promise<ForwardMs> {
    const { project, catalogue, details } = this.requests;
    if (project + catalogue + details > mostRequests) throw new Error('reads on and on');
    this.meanwhile();
    await this.clock.advance(1);
    return this.clock.now();
  }

  #projectClient(): ProjectClient {
    const cached = new Map<string, Read<Page<WireProjectEvent>>>();
    const events = (query: ProjectQuery, scope: ReadScope) =>
      this.#cached(
        cached,
        query,
        scope,
        () => read(query),
        this.#delivered.project,
        (answer, delivered) => withProjectEvents(answer, query, delivered),
      );
    const read = async (query: ProjectQuery) => {
      this.requests.project++;
      const readAtMs = await this.#happens();
      if (this.failures.project) throw this.failures.project;
      const [from, to] = [msOf(query.from), msOf(query.to)];
      const sign = query.order === 'asc' ? 1 : -1;
      const matching = this.project
        .filter(({ issuedMs }) => issuedMs >= (from ?? -Infinity) && issuedMs <= (to ?? Infinity))
        .filter((quake) => !query.bbox || inBox(query.bbox, quake))
        .filter(
          ({ magnitude }) => query.minMagnitude === undefined || isAtLeast(magnitude, query.minMagnitude),
        )
        .sort((a, b) => sign * (a.issuedMs - b.issuedMs || (a.id < b.id ? -1 : 1)));
      if (this.#choices.unsteady) {
        const place = ({ id }: ProjectQuake) => shuffled(id, this.requests.project);
        matching.sort((a, b) => sign * (a.issuedMs - b.issuedMs) || place(a) - place(b));
      }
      const limit = Math.min(query.limit, this.#choices.projectPage);
      const items = matching.slice(query.offset, query.offset + limit).map(projectRecord);
      return { value: { items, total: matching.length, received: items.length }, readAtMs };
    };
    const event = async (id: string) => {
      this.requests.details++;
      const readAtMs = await this.#happens();
      if (this.failures.project) throw this.failures.project;
      const quake = this.project.find((known) => known.id === id);
      if (!quake) return null;
      const origins = [...quake.origins, quake].map(({ originMs, issuedMs }) => ({
        origin_time: originMs / 1000,
        issued_at: issuedMs / 1000,
        latitude: quake.latitude,
        longitude: quake.longitude,
      }));
      const none = { magnitudes: null, picks: null, amplitudes: null, descriptions: null };
      return { value: { origins, ...none, event: null }, readAtMs };
    };
    return { events, event } as unknown as ProjectClient;
  }

  #catalogueClient(): CatalogueClient {
    const cached = new Map<string, Read<CataloguePage<WireCatalogueEvent>>>();
    const events = (query: CatalogueQuery, scope: ReadScope) =>
      this.#cached(
        cached,
        query,
        scope,
        () => read(query),
        this.#delivered.catalogue,
        (answer, delivered) => withCatalogueEvents(answer, query, delivered),
      );
    const read = async (query: CatalogueQuery) => {
      this.requests.catalogue++;
      const readAtMs = await this.#happens();
      if (this.failures.catalogue) throw this.failures.catalogue;
      const { inclusive, order, unsteady, cataloguePage } = this.#choices;
      const seed = this.#choices.seed + (unsteady ? this.requests.catalogue : 0);
      const sign = { none: 0, newest: -1, oldest: 1 }[order];
      const [start, end] = [msOf(query.start), msOf(query.end)];
      const matching = this.catalogue
        .filter(
          ({ originMs }) => start === undefined || originMs > start || (inclusive && originMs === start),
        )
        .filter(({ originMs }) => end === undefined || originMs < end || (inclusive && originMs === end))
        .filter(
          ({ magnitude }) => query.minMagnitude === undefined || isAtLeast(magnitude, query.minMagnitude),
        )
        .filter(
          ({ magnitude }) => query.maxMagnitude === undefined || isAtLeast(query.maxMagnitude, magnitude),
        )
        .filter(({ networkId }) => query.networkId === undefined || networkId === query.networkId)
        .filter((quake) => !query.near || distanceKm(query.near, quake) <= query.near.radiusKm)
        .sort((a, b) => sign * (a.originMs - b.originMs) || shuffled(a.id, seed) - shuffled(b.id, seed));
      const limit = Math.min(query.limit, cataloguePage);
      const offset = (query.page - 1) * limit;
      const items = matching.slice(offset, offset + limit).map(catalogueRecord);
      return { value: { items, total: matching.length, received: items.length, limit }, readAtMs };
    };
    const event = async (id: string) => {
      this.requests.details++;
      const readAtMs = await this.#happens();
      if (this.failures.catalogue) throw this.failures.catalogue;
      const quake = this.catalogue.find((known) => known.id === id);
      return quake ? { value: { ...catalogueRecord(quake), stations: null }, readAtMs } : null;
    };
    return { events, event } as unknown as CatalogueClient;
  }
}

function projectRecord(quake: ProjectQuake) {
  return projectShape.parse({
    id: quake.id,
    issued_at: new Date(quake.issuedMs).toISOString(),
    magnitude: quake.magnitude,
    origin: {
      id: `${quake.id}-${quake.origins.length}`,
      latitude: quake.latitude,
      longitude: quake.longitude,
      depth: quake.depthKm,
      origin_time: quake.originMs / 1000,
      issued_at: quake.issuedMs / 1000,
    },
  });
}

function catalogueRecord(quake: CatalogueQuake) {
  return catalogueShape.parse({
    id: quake.id,
    origin_time: new Date(quake.originMs).toISOString(),
    latitude: quake.latitude,
    longitude: quake.longitude,
    depth_km: quake.depthKm,
    magnitude: quake.magnitude,
    network_id: quake.networkId,
  });
}

/**
 * Small worlds in which much happens at once: swarms, rivals, equal ids, solutions that come late.
 * @param farMs how far the catalogue's solution can be from the project's, beside up to 20 s
 */
export const quakesApart = (farMs: readonly number[]) =>
  fc
    .array(
      fc.record({
        // Seconds before now: clusters of seconds and minutes, over a few hours, and a few far back.
        agoS: fc.oneof(
          { arbitrary: fc.integer({ min: 0, max: 600 }), weight: 3 },
          { arbitrary: fc.integer({ min: 0, max: 8 }).map((hours) => hours * 3600), weight: 2 },
          { arbitrary: fc.integer({ min: 0, max: 30 * 86_400 }), weight: 2 },
        ),
        jitterMs: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.constantFrom(...farMs)),
        latitude: fc.constantFrom(0, 0.3, 0.85, 10, -89.5),
        longitude: fc.constantFrom(0, 0.2, 0.8, 179.9, -179.8),
        depthKm: fc.constantFrom(null, 0, 8.5, 300),
        magnitude: fc.constantFrom(null, -0.3, 0, 2.9, 3, 3.1, 5.5),
        otherMagnitude: fc.constantFrom(null, -0.3, 0, 2.9, 3, 3.1, 5.5),
        knownTo: fc.constantFrom('both', 'both', 'project', 'catalogue'),
        sameId: fc.boolean(),
        lagS: fc.oneof(
          { arbitrary: fc.integer({ min: 0, max: 120 }), weight: 4 },
          { arbitrary: fc.integer({ min: 0, max: 40 * 86_400 }), weight: 1 },
        ),
        networkId: fc.constantFrom(null, 'n1', 'n2'),
      }),
      { maxLength: 60, size: 'max' },
    )
    .map((list) => {
      const nowMs = Date.UTC(2026, 2, 8);
      const project: ProjectQuake[] = [];
      const catalogue: CatalogueQuake[] = [];
      for (const [index, quake] of list.entries()) {
        const { latitude, longitude, depthKm, magnitude, networkId } = quake;
        const originMs = nowMs - quake.agoS * 1000 - 20_000;
        const place = { latitude, longitude, depthKm };
        if (quake.knownTo !== 'catalogue') {
          const issuedMs = Math.min(nowMs, originMs + quake.lagS * 1000);
          project.push({ id: `q${index}`, originMs, issuedMs, ...place, magnitude, origins: [] });
        }
        if (quake.knownTo !== 'project') {
          const id = quake.sameId ? `q${index}` : `c${index}`;
          const other = {
            originMs: Math.min(nowMs, originMs + quake.jitterMs),
            magnitude: quake.otherMagnitude,
            networkId,
          };
          catalogue.push({ id, ...place, ...other });
        }
      }
      return { project, catalogue };
    });

export const quakes = quakesApart([0, 16_000, 500]);

export function at(ms: number): Instant {
  return Instant.fromMs(date(ms));
}

function msOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`upstream would refuse ${text}`);
  return ms;
}

function isAtLeast(value: number | null, least: number | null): boolean {
  return value !== null && least !== null && value >= least;
}

function inBox(
  [west, south, east, north]: readonly [number, number, number, number],
  quake: ProjectQuake,
): boolean {
  if (west > east || south > north) throw new Error('upstream would refuse the box');
  const { latitude, longitude } = quake;
  return longitude >= west && longitude <= east && latitude >= south && latitude <= north;
}

// Far more than any list of a small world can need.
const mostRequests = 4_000;
const mostReads = 40_000;

// An order that is fixed and follows nothing.
function shuffled(id: string, seed: number): number {
  let hash = seed;
  for (const character of id) hash = (Math.imul(hash, 31) + character.charCodeAt(0) * 2654435761) | 0;
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
}

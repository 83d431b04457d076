import { earliest, type ForwardMs, type UnixMs } from '../../clock.js';
import type { GatewayError, Source } from '../../errors.js';
import type { WireEvent as WireCatalogueEvent } from '../../upstream/catalogue/wire.js';
import {
  type CatalogueEventId,
  known,
  MalformedValue,
  type Num,
  type ProjectEventId,
  type Text,
} from '../../upstream/decode/fields.js';
import type { WireEvent as WireProjectEvent } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';
import { mostEvents, RecentlyUsed } from '../derived.js';
import { compareText } from '../text-order.js';
import type { MaybeInstant } from '../time/wire-time.js';
import { catalogueSolution, issueTime, knownInstant, projectSolution, type Solution } from './solution.js';

/**
 * One earthquake, merged from the records of the interfaces; at least one record is given.
 * @param failures of interfaces that were asked for their record and failed
 */
export function mergeEvent(
  project: Read<WireProjectEvent> | null,
  catalogue: Read<WireCatalogueEvent> | null,
  failures: Failures = noFailures,
): Event {
  const record = project ?? catalogue;
  if (!record || failures.project || failures.catalogue) return new Event(project, catalogue, failures);
  const last = lastMerged.get(record);
  if (last && last.project === project && last.catalogue === catalogue) return last;
  const merged = new Event(project, catalogue, noFailures);
  lastMerged.set(record, merged);
  return merged;
}

/** Last merged event of each record, reused: most records have the same partner, or none, in every operation. */
const lastMerged = new RecentlyUsed<Read<unknown>, Event>(mostEvents);

/** Why a record is missing, if the read failed; empty when there is no such record. */
export interface Failures {
  readonly project?: GatewayError | undefined;
  readonly catalogue?: GatewayError | undefined;
  /** The project's id of the event when it is known but its record could not be read. */
  readonly projectEventId?: ProjectEventId | undefined;
}

const noFailures: Failures = {};

/**
 * Precedence (docs/behaviour.md 6.3): a located solution of the catalogue, since it is reviewed, before the latest
 * origin of the project. Time and place come from one solution; other values that the primary record lacks come from
 * the other side.
 */
export class Event {
  readonly project: Read<WireProjectEvent> | null;
  readonly catalogue: Read<WireCatalogueEvent> | null;
  readonly failures: Failures;
  /** Null when neither side has located the event. */
  readonly solution: Solution | null;
  /** The project's latest solution. */
  readonly projectSolution: Solution | null;
  readonly #catalogueWins: boolean;

  constructor(
    project: Read<WireProjectEvent> | null,
    catalogue: Read<WireCatalogueEvent> | null,
    failures: Failures,
  ) {
    this.project = project;
    this.catalogue = catalogue;
    this.failures = failures;
    this.projectSolution = project && projectSolution(project.value);
    const located = catalogue && catalogueSolution(catalogue.value);
    this.solution = located ?? this.projectSolution;
    this.#catalogueWins = located !== null || this.projectSolution === null;
  }

  /** Held by the global id: the project's id if the project has the event, else the catalogue's. */
  get key(): string {
    return this.projectEventId === null ? `c:${this.catalogueEventId}` : `p:${this.projectEventId}`;
  }

  get projectEventId(): ProjectEventId | null {
    return this.project?.value.id ?? this.failures.projectEventId ?? null;
  }

  get catalogueEventId(): CatalogueEventId | null {
    return this.catalogue?.value.id ?? null;
  }

  get sources(): readonly Source[] {
    return [
      ...(this.project ? (['PROJECT'] as const) : []),
      ...(this.catalogue ? (['CATALOGUE'] as const) : []),
    ];
  }

  get issuedAt(): MaybeInstant {
    return this.project && issueTime(this.project.value);
  }

  /** Kilometres. */
  get depthKm(): Num {
    return this.#preferred(this.catalogue?.value.depth_km, this.project?.value.origin?.depth);
  }

  get magnitude(): Num {
    return this.#preferred(this.catalogue?.value.magnitude, this.project?.value.magnitude);
  }

  /**
   * The catalogue's type, and only with the catalogue's magnitude: the project does not document its type
   * (docs/interfaces.md P2).
   */
  get magnitudeType(): Text {
    const shown = known(this.magnitude);
    const ofCatalogue = known(this.catalogue?.value.magnitude);
    return shown !== ofCatalogue ? null : (this.catalogue?.value.magnitude_type ?? null);
  }

  get place(): Text {
    return this.catalogue?.value.location_description ?? null;
  }

  get status(): Text {
    return this.catalogue?.value.status ?? null;
  }

  get networkId(): Text {
    return this.catalogue?.value.network_id ?? null;
  }

  get stationCount(): Num {
    return this.project?.value.station_count ?? null;
  }

  get pickStations(): readonly string[] | null {
    const codes = this.project?.value.pick_stations;
    return codes?.flatMap((code) => (typeof code === 'string' ? [code.trim()] : [])) ?? null;
  }

  /** Read time of the oldest record of the event. */
  get readAtMs(): ForwardMs {
    return earliest(...[this.project, this.catalogue].flatMap((read) => (read ? [read.readAtMs] : [])));
  }

  #preferred(ofCatalogue: Num | undefined, ofProject: Num | undefined): Num {
    const inOrder = this.#catalogueWins ? [ofCatalogue, ofProject] : [ofProject, ofCatalogue];
    const value = inOrder.find((candidate) => typeof candidate === 'number');
    return value ?? inOrder.find((candidate) => candidate instanceof MalformedValue) ?? null;
  }
}

/** An event with a solution, as all events of a list are. */
export type LocatedEvent = Event & { readonly solution: Solution };

export function isLocated(event: Event): event is LocatedEvent {
  return event.solution !== null;
}

/** By origin time, tie-break by key: one order for all pages. */
export function compareEvents(a: LocatedEvent, b: LocatedEvent): number {
  return a.solution.originTime.compare(b.solution.originTime) || compareText(a.key, b.key);
}

/** Issue time in Unix milliseconds; null when the project does not give one. */
export function issuedMs(event: Pick<WireProjectEvent, 'issued_at' | 'origin'>): UnixMs | null {
  return knownInstant(issueTime(event))?.ms ?? null;
}

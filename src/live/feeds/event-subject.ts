import type { Source } from '../../errors.js';
import type { SharedChanges } from '../../store/store.js';
import { type Event, mergeEvent } from '../../unify/event/event.js';
import { type EventFilter, matchesFilter } from '../../unify/event/filter.js';
import { isLocated } from '../../unify/event/merge.js';
import { issueTime, knownInstant } from '../../unify/event/solution.js';
import { Instant } from '../../unify/time/instant.js';
import type { WireEvent as WireCatalogueEvent } from '../../upstream/catalogue/wire.js';
import { known } from '../../upstream/decode/fields.js';
import type { WireEvent as WireProjectEvent } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';
import type { Change, Subject } from '../tracking/change.js';

export type EventChangeKind = 'ISSUED' | 'REISSUED';
export type EventChange = Change<EventRecord, EventChangeKind>;

/** An event as one interface lists it. */
export interface EventRecord {
  readonly id: string;
  readonly time: Instant;
  /** Of the project, from which its feed is; null in the feed of the catalogue. */
  readonly project: Read<WireProjectEvent> | null;
  readonly catalogue: Read<WireCatalogueEvent> | null;
  /** With what the other interface knew when the change was observed: what filters are asked about. */
  readonly event: Event;
}

export function ofProject(read: Read<WireProjectEvent>): EventRecord | null {
  const time = knownInstant(issueTime(read.value));
  return time && { id: read.value.id, time, project: read, catalogue: null, event: mergeEvent(read, null) };
}

export function ofCatalogue(read: Read<WireCatalogueEvent>): EventRecord | null {
  const event = mergeEvent(null, read);
  const time = event.solution?.originTime;
  return time ? { id: read.value.id, time, project: null, catalogue: read, event } : null;
}

// Assumed: an event is issued for the first time within a day of its origin. What is listed for the first time later
// than that was issued before, and has been forgotten here.
const firstIssuedWithinMs = 86_400_000;

export function eventSubject(source: Source): Subject<EventRecord, EventChangeKind> {
  return {
    name: 'eventChanges',
    source,
    idOf: ({ id }) => id,
    timeOf: ({ time }) => time,
    readAtMs: ({ project, catalogue }) => (project ?? catalogue)?.readAtMs ?? 0,
    fingerprintOf: ({ project, catalogue }) =>
      JSON.stringify(
        project ? projectSolution(project.value) : catalogue && catalogueSolution(catalogue.value),
      ),
    isFinal: () => false,
    isOpen: () => false,
    kindOf({ time, event }, isKnown) {
      const origin = event.solution?.originTime;
      const isOld = origin !== undefined && time.ms - origin.ms > firstIssuedWithinMs;
      return isKnown || isOld ? 'REISSUED' : 'ISSUED';
    },
    isFolded: () => false,
    traitsOf: () => null,
    pack: ({ id, time, project, catalogue, event }, clock) => ({
      id,
      time,
      project: packed(project, clock),
      catalogue: packed(catalogue, clock),
      partner: packed(event.catalogue, clock),
    }),
    unpack(value, clock) {
      const { id, time, ...reads } = value as PackedEvent;
      if (!(time instanceof Instant)) return null;
      const project = unpacked(reads.project, clock);
      const partner = unpacked(reads.partner, clock);
      const event = mergeEvent(project, partner);
      return { id, time, project, catalogue: unpacked(reads.catalogue, clock), event };
    },
  };
}

interface PackedEvent extends Pick<EventRecord, 'id' | 'time' | 'project' | 'catalogue'> {
  /** What the catalogue knew of an event of the project. */
  readonly partner: EventRecord['catalogue'];
}

function packed<W>(read: Read<W> | null, time: SharedChanges['time']): Read<W> | null {
  return read && { value: read.value, readAtMs: time.toShared(read.readAtMs) };
}

function unpacked<W>(read: Read<W> | null, time: SharedChanges['time']): Read<W> | null {
  return read && { value: read.value, readAtMs: time.toLocal(read.readAtMs) };
}

/** On the merged event (docs/behaviour.md 6.3). An event that nobody has located cannot be shown. */
export function eventFilter(filter: EventChangeFilter | null): (change: EventChange) => boolean {
  return ({ record: { event } }) => isLocated(event) && matchesFilter(filter ?? {}, event);
}

export type EventChangeFilter = Pick<EventFilter, 'minMagnitude' | 'within' | 'boundingBox'>;

// A new solution has another issue time, origin or magnitude; counts of stations grow without one.
function projectSolution({ issued_at, magnitude, origin }: WireProjectEvent): unknown[] {
  const { id, latitude, longitude, depth, origin_time, issued_at: at } = origin ?? {};
  return [
    known(issued_at),
    ...[magnitude, id, latitude, longitude, depth, origin_time, at].map((value) => known(value)),
  ];
}

function catalogueSolution(event: WireCatalogueEvent): unknown[] {
  const { origin_time, latitude, longitude, depth_km, magnitude, magnitude_type } = event;
  return [origin_time, latitude, longitude, depth_km, magnitude, magnitude_type].map((value) => known(value));
}

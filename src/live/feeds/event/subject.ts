import { dayMs, longAgo } from '../../../clock.js';
import type { Source } from '../../../errors.js';
import type { SharedMs } from '../../../store/shared-time.js';
import type { SharedChanges } from '../../../store/store.js';
import { type EventFilter, matchesFilter } from '../../../unify/event/filter.js';
import { type Event, isLocated, mergeEvent } from '../../../unify/event/merge.js';
import { issueTime, knownInstant } from '../../../unify/event/solution.js';
import { Instant } from '../../../unify/time/instant.js';
import type { WireEvent as WireCatalogueEvent } from '../../../upstream/catalogue/wire.js';
import { known } from '../../../upstream/decode/fields.js';
import type { WireEvent as WireProjectEvent } from '../../../upstream/project/wire.js';
import type { Read } from '../../../upstream/read/read.js';
import type { Change, Subject } from '../../tracking/change.js';

export type EventChangeKind = 'ISSUED' | 'REISSUED';
export type EventChange = Change<EventRecord, EventChangeKind>;

/** An event as one interface lists it. */
export interface EventRecord {
  readonly id: string;
  readonly time: Instant;
  /** Null where the catalogue alone has it. */
  readonly project: Read<WireProjectEvent> | null;
  readonly catalogue: Read<WireCatalogueEvent> | null;
  /** Merged with the other side's record as of the observed change; filters test it. */
  readonly event: Event;
  /** False for one that the feed does not deliver by itself. */
  readonly isShown: boolean;
  /** True where it may have been listed before the feed began, though it was read only later. */
  readonly isEarlier: boolean;
  /** True where the project's list is known to have no record of the same earthquake. */
  readonly isUnmatched: boolean;
}

export function ofProject(read: Read<WireProjectEvent>): EventRecord | null {
  const time = knownInstant(issueTime(read.value));
  return (
    time && {
      id: read.value.id,
      time,
      project: read,
      catalogue: null,
      event: mergeEvent(read, null),
      ...usual,
    }
  );
}

export function ofCatalogue(read: Read<WireCatalogueEvent>): EventRecord | null {
  const event = mergeEvent(null, read);
  const time = event.solution?.originTime;
  return time ? { id: read.value.id, time, project: null, catalogue: read, event, ...usual } : null;
}

const usual = { isShown: true, isEarlier: false, isUnmatched: false };

/** The catalogue's record in a feed that follows the project, beside whose ids it has one of its own. */
export function catalogueOnly(
  record: EventRecord,
  known?: Pick<EventRecord, 'isEarlier' | 'isUnmatched'>,
): EventRecord {
  return { ...record, id: nameInCatalogue(record.id), ...known };
}

const nameInCatalogue = (id: string) => `c:${id}`;

/** The feed's record of a merged event; null where the feed would not have one. */
export function recordOf(source: Source, event: Event): EventRecord | null {
  if (source === 'PROJECT' && event.project) {
    const record = ofProject(event.project);
    return record && { ...record, event };
  }
  const record = event.catalogue && ofCatalogue(event.catalogue);
  if (!record) return null;
  return source === 'PROJECT' ? catalogueOnly(record) : record;
}

// Assumed: an event is first issued within a day of its origin. One that first appears later had been issued before,
// and has since left the snapshot.
const firstIssuedWithinMs = dayMs;

export function eventSubject(source: Source): Subject<EventRecord, EventChangeKind> {
  return {
    name: 'eventChanges',
    source,
    idOf: ({ id }) => id,
    timeOf: ({ time }) => time,
    readAtMs: ({ project, catalogue }) => (project ?? catalogue)?.readAtMs ?? longAgo,
    fingerprintOf: ({ project, catalogue }) =>
      JSON.stringify(
        project ? projectSolution(project.value) : catalogue && catalogueSolution(catalogue.value),
      ),
    isFinal: () => false,
    allEnd: false,
    isOpen: () => false,
    kindOf({ time, event }, isKnown) {
      const origin = event.solution?.originTime;
      const isOld = origin !== undefined && time.ms - origin.ms > firstIssuedWithinMs;
      return isKnown || isOld ? 'REISSUED' : 'ISSUED';
    },
    isFolded: () => false,
    isEarlier: ({ isEarlier }) => isEarlier,
    continues: ({ project, event: { catalogue } }) =>
      project && catalogue ? nameInCatalogue(catalogue.value.id) : null,
    // An event is listed before it is located; nothing of it can be shown until then.
    traitsOf: ({ event, isShown }, before) => before === true || (isShown && isLocated(event)),
    wasShown: (isOrWasLocated) => isOrWasLocated !== false,
    pack: ({ project, catalogue, event, ...rest }, clock) => ({
      ...rest,
      project: packed(project, clock),
      catalogue: packed(catalogue, clock),
      partner: packed(event.catalogue, clock),
    }),
    unpack(value, clock) {
      const { partner, ...rest } = value as PackedEvent;
      if (!(rest.time instanceof Instant)) return null;
      const project = unpacked(rest.project, clock);
      const event = mergeEvent(project, unpacked(partner, clock));
      return { ...rest, project, catalogue: unpacked(rest.catalogue, clock), event };
    },
  };
}

interface PackedEvent extends Omit<EventRecord, 'project' | 'catalogue' | 'event'> {
  readonly project: PackedRead<WireProjectEvent> | null;
  readonly catalogue: PackedRead<WireCatalogueEvent> | null;
  /** The catalogue's record of an event in the project's feed. */
  readonly partner: PackedRead<WireCatalogueEvent> | null;
}

interface PackedRead<W> {
  readonly value: W;
  readonly readAtMs: SharedMs;
}

function packed<W>(read: Read<W> | null, time: SharedChanges['time']): PackedRead<W> | null {
  return read && { value: read.value, readAtMs: time.toShared(read.readAtMs) };
}

function unpacked<W>(read: PackedRead<W> | null, time: SharedChanges['time']): Read<W> | null {
  return read && { value: read.value, readAtMs: time.toLocal(read.readAtMs) };
}

/** Tests the merged event (docs/behaviour.md 6.3). An event without a location cannot be shown. */
export function eventFilter(filter: EventChangeFilter | null): (change: EventChange) => boolean {
  return ({ record: { event, isShown } }) =>
    isShown && isLocated(event) && matchesFilter(filter ?? {}, event);
}

export type EventChangeFilter = Pick<EventFilter, 'minMagnitude' | 'within' | 'boundingBox'>;

// A new solution has another issue time, origin or magnitude. Station counts are left out: they grow without one.
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

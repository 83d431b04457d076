import { hourMs } from '../../clock.js';
import type { ProjectTrigger } from '../project/records.js';
import { type Random, randomOf } from '../random.js';
import { textOf } from '../time.js';
import type { ProjectData, World } from '../world.js';
import { comingQuakes, isInRegion, pastQuakes, type Quake } from './earthquakes.js';
import { EventQueue } from './event-queue.js';
import type { Station } from './network.js';
import { catalogueEvent, catalogueTimes, issueTimes, projectEvent } from './solutions.js';
import { noiseTrigger, quakeTrigger, type TriggerPlan, triggerRecord } from './triggers.js';

export interface HappeningsOptions {
  readonly seed: number;
  readonly startMs: number;
  readonly world: World;
  /** Which stations belong to which project. */
  readonly projects: readonly { readonly data: ProjectData; readonly stations: readonly Station[] }[];
  readonly stations: readonly Station[];
  /** False while the station has no power or no link: it then records nothing. */
  readonly isUp: (station: Station, ms: number) => boolean;
  /** Filled with the earthquakes of the region, as they happen. */
  readonly felt: Quake[];
}

/** Earthquakes and triggers, and what the interfaces tell of them, up to the time that the returned function is given. */
export function happenings(options: HappeningsOptions): (nowMs: number) => void {
  const { seed, startMs, world, projects, felt } = options;
  const { catalogue } = world;
  const queue = new EventQueue();
  const open = new Map<ProjectTrigger, TriggerPlan>();
  const coming = comingQuakes(seed, startMs - inventedMs, startMs - 7000);
  const inCatalogue = options.stations.filter((station) => station.catalogueId !== null);
  // Beyond 2^31: an id is an integer of any size (docs/interfaces.md P2).
  let nextId = 4_200_000_000;
  let nextQuake = coming.next().value;
  let noise = noiseAfter(startMs - inventedMs, 0);
  let forgottenMs = startMs;
  for (const quake of pastQuakes(seed, startMs)) schedule(quake);

  return (nowMs) => {
    for (; nextQuake.originMs <= nowMs; nextQuake = coming.next().value) schedule(nextQuake);
    for (; noise.ms <= nowMs; noise = noiseAfter(noise.ms, noise.index + 1)) scheduleNoise(noise);
    queue.runUntil(nowMs);
    for (const [record, plan] of open) Object.assign(record, triggerRecord(plan, record.id, nowMs));
    if (nowMs - forgottenMs > hourMs) forget(nowMs);
  };

  function schedule(quake: Quake): void {
    if (isInRegion(quake)) {
      felt.push(quake);
      for (const { data, stations } of projects) {
        scheduleIssues(quake, data, stations);
        for (const station of stations) scheduleTrigger(data, quakeTrigger(quake, station));
      }
      // docs/interfaces.md P2: the triggers of a sensor that has moved away stay, without a station.
      for (const station of options.stations) {
        if (station.role === 'moved' && quake.originMs < startMs - inventedMs / 2) {
          scheduleTrigger(world.project, quakeTrigger(quake, station));
        }
      }
    }
    scheduleListing(quake);
  }

  function scheduleIssues(quake: Quake, data: ProjectData, stations: readonly Station[]): void {
    const { projectId } = quake;
    if (projectId === null) return;
    const times = issueTimes(quake);
    // A solution that a later one has superseded by then (in the history, or after a long silence) is not made.
    const asOf = (nowMs: number) =>
      projectEvent(
        projectId,
        quake,
        times.filter((ms) => ms <= nowMs),
        stations,
      );
    const [firstMs, ...laterMs] = times;
    queue.add(firstMs, (nowMs) => {
      const record = asOf(nowMs);
      data.events.push(record);
      for (const dueMs of laterMs)
        if (dueMs > nowMs) queue.add(dueMs, (ms) => Object.assign(record, asOf(ms)));
    });
  }

  function scheduleListing(quake: Quake): void {
    const { catalogueId } = quake;
    if (catalogueId === null) return;
    const { listedMs, reviewedMs } = catalogueTimes(quake);
    queue.add(listedMs, (nowMs) => {
      const record = catalogueEvent(catalogueId, quake, reviewedMs <= nowMs, listedMs, inCatalogue);
      catalogue.events.push(record);
      if (reviewedMs <= nowMs) return;
      queue.add(reviewedMs, () => {
        Object.assign(record, catalogueEvent(catalogueId, quake, true, listedMs, inCatalogue));
      });
    });
  }

  function scheduleTrigger(data: ProjectData, plan: TriggerPlan | undefined): void {
    if (!plan || !options.isUp(plan.station, plan.startMs)) return;
    queue.add(plan.shownFromMs, (nowMs) => {
      const record = triggerRecord(plan, nextId++, nowMs);
      data.triggers.push(record);
      if (record.status === 'closed') return;
      open.set(record, plan);
      queue.add(plan.shownClosedFromMs, (ms) => {
        Object.assign(record, triggerRecord(plan, record.id, ms));
        open.delete(record);
      });
    });
  }

  function scheduleNoise({ ms, index, random }: Noise): void {
    const { data, stations } = random.chance(0.85)
      ? (projects[0] ?? random.pick(projects))
      : random.pick(projects);
    scheduleTrigger(data, noiseTrigger(seed, index, ms, random.pick(stations)));
  }

  function noiseAfter(ms: number, index: number): Noise {
    const random = randomOf('noise', seed, index);
    return { ms: ms + 1000 * (60 + random.exponential(200)), index, random };
  }

  /** Keeps a sandbox that runs for weeks from growing: of what was invented, a day and a half is enough. */
  function forget(nowMs: number): void {
    forgottenMs = nowMs;
    // All times here are written in UTC with their zeros, so that their order is that of the texts.
    const [firstText, keptText] = [textOf(startMs - inventedMs), textOf(nowMs - keptMs)];
    const isKept = (text: string) => text < firstText || text > keptText;
    for (const { data } of projects) {
      data.triggers = data.triggers.filter((trigger) => isKept(trigger.start_time));
      data.events = data.events.filter((event) => isKept(event.issued_at));
    }
    catalogue.events = catalogue.events.filter((event) => isKept(event.origin_time));
    felt.splice(
      0,
      felt.length,
      ...felt.filter((q) => q.originMs < startMs - inventedMs || q.originMs > nowMs - keptMs),
    );
  }
}

interface Noise {
  readonly ms: number;
  readonly index: number;
  readonly random: Random;
}

/** Length of the invented part of the history, which ends at the start. */
const inventedMs = 1.5 * hourMs;

const keptMs = 36 * hourMs;

import DataLoader from 'dataloader';
import { known } from '../../../upstream/decode/fields.js';
import type { UnifyContext } from '../../context.js';
import { type CatalogueRecord, deviceIdOf, deviceKey, type ProjectRecord, serialKey } from '../identity.js';
import { createInventory } from './inventory.js';
import { unifySensors } from './merging.js';
import { projectSensor, projectSensorAt } from './project-sensors.js';

/**
 * The catalogue's record of a project's sensor; null when it has none. The catalogue has no look-up by serial number,
 * so its list is read until all sensors that the operation asks for have been found.
 */
export function catalogueSide(ctx: UnifyContext, project: ProjectRecord): Promise<CatalogueRecord | null> {
  return ctx.once(createLoader).load(project);
}

/** The project's record of a sensor of the catalogue; null when it has none. */
export async function projectSide(
  ctx: UnifyContext,
  catalogue: CatalogueRecord,
): Promise<ProjectRecord | null> {
  if (!ctx.project) return null;
  const { serial_number, station_code, id } = catalogue.value;
  const serial = deviceIdOf(serial_number);
  const bySerial = serial === null ? null : await projectSensor(ctx, serial);
  if (bySerial) return bySerial;
  const station = known(station_code);
  if (!station || !(await projectSensorAt(ctx, station))) return null;
  // Several sensors may share a station code: only the full association knows network codes and matched serial numbers.
  const { association, project } = await unifySensors(ctx);
  if (project?.failure) throw project.failure;
  return association.byCatalogueId.get(id)?.project ?? null;
}

const createLoader = (ctx: UnifyContext) =>
  new DataLoader((records: readonly ProjectRecord[]) => catalogueSides(ctx, records));

async function catalogueSides(
  ctx: UnifyContext,
  records: readonly ProjectRecord[],
): Promise<readonly (CatalogueRecord | null | Error)[]> {
  const list = ctx.tracked(createInventory).catalogue;
  if (!list) return records.map(() => null);
  const wanted = new Map<string, ProjectRecord>(records.map((record) => [deviceKey(record), record]));
  const bySerial = new Map<string, CatalogueRecord>();
  let scanned = 0;
  const scan = (all: ReadonlyMap<string, CatalogueRecord>) => {
    // Records are only appended while the list is being read, so those scanned before can be skipped.
    let index = 0;
    for (const record of all.values()) {
      if (index++ < scanned) continue;
      const key = serialKey(record.value.serial_number);
      if (key !== null && wanted.has(key)) bySerial.set(key, record);
    }
    scanned = all.size;
    return bySerial.size === wanted.size;
  };
  const listed = await list.read(ctx, { enough: (sofar) => scan(sofar.records) });
  if (!listed.complete) {
    scan(listed.records);
    return records.map((record) => bySerial.get(deviceKey(record)) ?? failureOf(listed.failure));
  }
  scanned = 0;
  scan(listed.records);
  const stations = stationsOf(listed.records);
  const isUndecided = (record: ProjectRecord) =>
    !bySerial.has(deviceKey(record)) && stations.has(known(record.value.station) ?? '');
  if (!records.some(isUndecided)) return records.map((record) => bySerial.get(deviceKey(record)) ?? null);
  const { association, project } = await unifySensors(ctx);
  return records.map((record) => {
    if (!isUndecided(record)) return bySerial.get(deviceKey(record)) ?? null;
    if (project?.failure instanceof Error) return project.failure;
    return association.byDevice.get(deviceKey(record))?.catalogue ?? null;
  });
}

const failureOf = (failure: unknown): Error | null => (failure instanceof Error ? failure : null);

function stationsOf(records: ReadonlyMap<string, CatalogueRecord>): ReadonlySet<string> {
  const stations = new Set<string>();
  for (const { value } of records.values()) {
    const station = known(value.station_code);
    if (station) stations.add(station);
  }
  return stations;
}

import type { WireSensor as CatalogueSensor } from '../../upstream/catalogue/wire.js';
import { known, type Text } from '../../upstream/decode/fields.js';
import type { WireSensor as ProjectSensor } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';

export type ProjectRecord = Read<ProjectSensor>;
export type CatalogueRecord = Read<CatalogueSensor>;

/** One sensor: what each interface says of it. At least one of the two is there. */
export interface Pair {
  readonly project: ProjectRecord | null;
  readonly catalogue: CatalogueRecord | null;
  /** Another sensor that only the catalogue has bears the same serial number: it cannot be told by that. */
  readonly isNamesake?: boolean | undefined;
}

/** `undefined` while the code has not been learnt; null when the network is known to have none. */
export type CodeOf = (record: CatalogueRecord) => string | null | undefined;

/** 12 upper-case hexadecimal characters, or null when the text is no Device ID. Case and separators do not matter. */
export function deviceIdOf(text: Text): string | null {
  const key = serialKey(text);
  return key !== null && /^[0-9A-F]{12}$/.test(key) ? key : null;
}

/** A serial number or Device ID as it is compared: upper case, without separators (docs/behaviour.md 6.1). */
export function serialKey(text: Text): string | null {
  const value = known(text);
  if (value === null) return null;
  // Assumed: these are separators in a serial number (docs/interfaces.md C2 shows no form of it); letters are not, so that `SN-…` stays.
  const key = value.replace(/[\s:._\-/]/g, '').toUpperCase();
  return key === '' ? null : key;
}

/**
 * What tells a sensor from all others, the same whichever interface it was reached by: its Device ID, or the serial number
 * where that has the form of one; else the one identifier that it has.
 */
export function sensorKey({ project, catalogue, isNamesake }: Pair): string {
  if (project) return deviceIdOf(project.value.device_id) ?? `p:${project.value.device_id}`;
  if (isNamesake) return `c:${catalogue?.value.id ?? ''}`;
  return deviceIdOf(catalogue?.value.serial_number ?? null) ?? `c:${catalogue?.value.id ?? ''}`;
}

/** What a project's sensor is known by here. Device IDs of another shape than the documented one are kept apart too. */
export function deviceKey(record: ProjectRecord): string {
  return serialKey(record.value.device_id) ?? record.value.device_id;
}

import type { WireSensor as CatalogueSensor } from '../../upstream/catalogue/wire.js';
import { asId, type DeviceId, type Id, known, type Text } from '../../upstream/decode/fields.js';
import type { WireSensor as ProjectSensor } from '../../upstream/project/wire.js';
import type { Read } from '../../upstream/read/read.js';

export type ProjectRecord = Read<ProjectSensor>;
export type CatalogueRecord = Read<CatalogueSensor>;

/** One sensor: the records of both interfaces, at least one of them not null. */
export interface Pair {
  readonly project: ProjectRecord | null;
  readonly catalogue: CatalogueRecord | null;
  /** True when another catalogue-only sensor has the same serial number, which then does not identify this one. */
  readonly isNamesake?: boolean | undefined;
}

/** `undefined` while the code has not been learnt; null when the network is known to have none. */
export type CodeOf = (record: CatalogueRecord) => string | null | undefined;

/** 12 upper-case hexadecimal characters, or null when the text is no Device ID. Case and separators are ignored. */
export function deviceIdOf(text: Text): DeviceId | null {
  const key = serialKey(text);
  return key !== null && /^[0-9A-F]{12}$/.test(key) ? asId(key) : null;
}

/** A serial number or Device ID normalised for comparison: upper case, without separators (docs/behaviour.md 6.1). */
export function serialKey(text: Text): string | null {
  const value = known(text);
  if (value === null) return null;
  // Assumed: these characters are separators in a serial number (docs/interfaces.md C2 shows no form of it). Letters
  // are not, so that the prefix of `SN-…` stays.
  const key = value.replace(/[\s:._\-/]/g, '').toUpperCase();
  return key === '' ? null : key;
}

/**
 * Unique key of a sensor, independent of the interface that it was read from: its Device ID, or the serial number where
 * that has the form of a Device ID; else the only identifier that it has, with a prefix.
 */
export function sensorKey({ project, catalogue, isNamesake }: Pair): string {
  if (project) return deviceIdOf(project.value.device_id) ?? `p:${project.value.device_id}`;
  if (isNamesake) return `c:${catalogue?.value.id ?? ''}`;
  return deviceIdOf(catalogue?.value.serial_number ?? null) ?? `c:${catalogue?.value.id ?? ''}`;
}

/** A Device ID normalised for comparison: made once where an identifier enters, and compared as it is from then on. */
export type DeviceKey = Id<'key of a device'>;

/** Device IDs not of the documented form are distinct keys too. */
export function deviceKeyOf(deviceId: string): DeviceKey {
  return asId(serialKey(deviceId) ?? deviceId);
}

/** Key of a project's sensor within the inventory. */
export function deviceKey(record: ProjectRecord): DeviceKey {
  return deviceKeyOf(record.value.device_id);
}

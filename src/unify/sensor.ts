import { known, MalformedValue, type Text } from '../upstream/decode.js';
import type { UnifyContext } from './context.js';
import { type DetailRecord, sensorDetail } from './sensor-detail.js';
import { type Half, heldBy, recordOf, settled } from './sensor-half.js';
import {
  type CatalogueRecord,
  deviceIdOf,
  type Pair,
  type ProjectRecord,
  sensorKey,
} from './sensor-identity.js';
import { catalogueHalf, projectHalf } from './sensor-inventory/halves.js';
import { projectSensor } from './sensor-inventory/project-sensors.js';
import { type MergedField, mergedFields } from './sensor-precedence.js';
import { type SensorStatus, statusOf } from './sensor-status.js';
import { Instant } from './time.js';
import { instantOf, type MaybeInstant } from './wire-time.js';

export interface SensorParts {
  /** Left out: looked up when a field needs it. */
  readonly project?: Half<ProjectRecord> | undefined;
  readonly catalogue?: Half<CatalogueRecord> | undefined;
  /**
   * An item of a list that names the missing interface already: what only that one knows is null without an error of
   * its own, except for a position.
   */
  readonly isListed?: boolean | undefined;
  /** As in `Pair`. */
  readonly isNamesake?: boolean | undefined;
}

/**
 * One sensor from the records of both interfaces (contract 6.1, 6.3). Where both have a value, the project's holds: it is the
 * operator's own and seconds old; the catalogue fills what is missing. A half that was not at hand is read when a field
 * needs it, so that what costs a request is paid for by who asks for it. Positions are made by `masking.ts` alone.
 */
export class Sensor {
  readonly #ctx: UnifyContext;
  readonly #isListed: boolean;
  readonly #isNamesake: boolean;
  #project: Promise<Half<ProjectRecord>> | undefined;
  #catalogue: Promise<Half<CatalogueRecord>> | undefined;

  constructor(ctx: UnifyContext, parts: SensorParts) {
    this.#ctx = ctx;
    this.#isListed = parts.isListed ?? false;
    this.#isNamesake = parts.isNamesake ?? false;
    if (parts.project) this.#project = Promise.resolve(parts.project);
    if (parts.catalogue) this.#catalogue = Promise.resolve(parts.catalogue);
  }

  /** The project's record; null for a sensor that the project does not have. */
  async project(): Promise<ProjectRecord | null> {
    return recordOf(await this.projectHalf());
  }

  /** The catalogue's record, as its list or its detail gave it. */
  async catalogue(): Promise<CatalogueRecord | null> {
    return recordOf(await this.catalogueHalf());
  }

  projectHalf(): Promise<Half<ProjectRecord>> {
    this.#project ??= settled(async () => {
      const record = await this.catalogue();
      return record && projectHalf(this.#ctx, record);
    });
    return this.#project;
  }

  catalogueHalf(): Promise<Half<CatalogueRecord>> {
    this.#catalogue ??= settled(async () => {
      const record = await this.project();
      return record && catalogueHalf(this.#ctx, record);
    });
    return this.#catalogue;
  }

  /** The part of the global id behind the type; the same however the sensor was reached. */
  async key(): Promise<string> {
    const project = heldBy(await this.projectHalf());
    const catalogue = project ? null : heldBy(await this.catalogueHalf());
    return sensorKey({ project, catalogue, isNamesake: this.#isNamesake });
  }

  /** Null for a sensor that the project does not have. */
  async deviceId(): Promise<string | null> {
    const record = await this.#required(this.projectHalf());
    return record && (deviceIdOf(record.value.device_id) ?? record.value.device_id);
  }

  async catalogueId(): Promise<string | null> {
    return (await this.#required(this.catalogueHalf()))?.value.id ?? null;
  }

  async serialNumber(): Promise<Text> {
    return (await this.#required(this.catalogueHalf()))?.value.serial_number ?? null;
  }

  /** Empty where neither interface gave one. */
  async stationCode(): Promise<string> {
    const project = heldBy(await this.projectHalf());
    const own = project && known(project.value.station);
    if (own) return own;
    const catalogue = heldBy(await this.catalogueHalf());
    return (catalogue && known(catalogue.value.station_code)) ?? '';
  }

  networkCode(): Promise<Text> {
    return this.#merged(mergedFields.networkCode);
  }

  /** Of the catalogue's network; null where the catalogue does not have the sensor. */
  async networkId(): Promise<Text> {
    return (await this.#required(this.catalogueHalf()))?.value.network_id ?? null;
  }

  model(): Promise<Text> {
    return this.#merged(mergedFields.model);
  }

  firmwareVersion(): Promise<Text> {
    return this.#merged(mergedFields.firmwareVersion);
  }

  async locationCode(): Promise<Text> {
    return (await this.detail())?.value.location_code ?? null;
  }

  async createdAt(): Promise<MaybeInstant> {
    return instantOf((await this.detail())?.value.created_at ?? null);
  }

  async lastSeenAt(): Promise<MaybeInstant> {
    return instantOf(await this.#merged(mergedFields.lastSeen));
  }

  /** Empty where upstream gave none. */
  async statusText(): Promise<string> {
    const { project, catalogue } = await this.#spokesman();
    return known((project ?? catalogue)?.value.status) ?? '';
  }

  async status(): Promise<SensorStatus> {
    return statusOf(await this.#spokesman(), this.#ctx.clock.now());
  }

  /** What only the project tells. */
  async power() {
    return (await this.#required(this.projectHalf()))?.value.power ?? null;
  }

  async connectivity() {
    return (await this.#required(this.projectHalf()))?.value.connectivity ?? null;
  }

  /** One request; null where the catalogue does not have the sensor. */
  async detail(): Promise<DetailRecord | null> {
    const id = await this.catalogueId();
    return id === null ? null : sensorDetail(this.#ctx, id);
  }

  /** Who is known to have it. */
  async sources(): Promise<readonly ('PROJECT' | 'CATALOGUE')[]> {
    const [project, catalogue] = await Promise.all([this.projectHalf(), this.catalogueHalf()]);
    return [
      ...(heldBy(project) ? (['PROJECT'] as const) : []),
      ...(heldBy(catalogue) ? (['CATALOGUE'] as const) : []),
    ];
  }

  /** When the oldest of the records was read that this answer is made of. */
  async asOf(): Promise<Instant> {
    // The fields beside this one have been asked for by then: what they read counts, and nothing is read for this one.
    await null;
    const [project, catalogue] = await Promise.all([this.#project, this.#catalogue]);
    const records = [project && heldBy(project), catalogue && heldBy(catalogue)];
    const times = records.flatMap((record) => record?.readAtMs ?? []);
    return Instant.fromMs(times.length > 0 ? Math.min(...times) : this.#ctx.clock.now());
  }

  /** The record that speaks for the sensor's state: the project's where it has one. */
  async #spokesman(): Promise<Pair> {
    const project = heldBy(await this.projectHalf());
    return { project, catalogue: project ? null : heldBy(await this.catalogueHalf()) };
  }

  /** The first value there is. An error only where it is missing and could be what is not known. */
  async #merged(field: MergedField): Promise<Text> {
    const projectHalf = await this.projectHalf();
    const project = heldBy(projectHalf);
    const own = project && field.project(project);
    if (own && !(own instanceof MalformedValue)) return own;
    const catalogueHalf = await this.catalogueHalf();
    const catalogue = heldBy(catalogueHalf);
    const other = catalogue && (await field.catalogue(catalogue, this.#ctx));
    if (other) return other;
    if (own !== null) return own;
    if (this.#isListed) return other;
    recordOf(projectHalf);
    recordOf(catalogueHalf);
    return other;
  }

  async #required<R>(half: Promise<Half<R>>): Promise<R | null> {
    return this.#isListed ? heldBy(await half) : recordOf(await half);
  }
}

/** The project's sensor with this Device ID, in any spelling; null when the project has none. Batched. */
export async function sensorByDeviceId(ctx: UnifyContext, deviceId: string): Promise<Sensor | null> {
  const record = await projectSensor(ctx, deviceId);
  return record && sensorOf(ctx, { project: { record } });
}

/** The one `Sensor` of this operation that has these records; an item of a list is apart, with errors of its own. */
export function sensorOf(ctx: UnifyContext, parts: SensorParts): Sensor {
  const sensors = ctx.once(parts.isListed ? createListedSensors : createSensors);
  const project = parts.project && heldBy(parts.project);
  const catalogue = parts.catalogue && heldBy(parts.catalogue);
  const key = project?.value ?? catalogue?.value;
  if (!key) return new Sensor(ctx, parts);
  const made = sensors.get(key) ?? new Sensor(ctx, parts);
  sensors.set(key, made);
  return made;
}

const createSensors = () => new Map<object, Sensor>();
const createListedSensors = () => new Map<object, Sensor>();

import { earliest, type ForwardMs, forever } from '../../clock.js';
import { type Maybe, whenBoth, whenKnown } from '../../maybe.js';
import {
  type CatalogueSensorId,
  type DeviceId,
  known,
  MalformedValue,
  type Text,
} from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import { derived } from '../derived.js';
import type { Instant } from '../time/instant.js';
import { instantOf, type MaybeInstant } from '../time/wire-time.js';
import { type DetailRecord, sensorDetail } from './detail.js';
import { type CatalogueRecord, deviceIdOf, type Pair, type ProjectRecord, sensorKey } from './identity.js';
import { catalogueSide, projectSide } from './inventory/sides.js';
import { type MergedField, mergedFields } from './precedence.js';
import { recordOf, recordOrNull, type Side, settled } from './side.js';
import { type SensorStatus, statusOf } from './status.js';

export interface SensorParts {
  /** A side that is left out is read when a field needs it. */
  readonly project?: Side<ProjectRecord> | undefined;
  readonly catalogue?: Side<CatalogueRecord> | undefined;
  /**
   * True for an item of a list that already names the unavailable interface: fields that only that interface has are
   * null without an error of their own, except for the position.
   */
  readonly isListed?: boolean | undefined;
  /** True when another catalogue-only sensor has the same serial number (`Pair`). */
  readonly isNamesake?: boolean | undefined;
}

/**
 * One sensor from the records of both interfaces (docs/behaviour.md 6.1, 6.3). Where both have a value, the project's
 * takes precedence: it is the operator's own and seconds old. The catalogue fills in missing values. A side that is not
 * in memory is read when a field needs it, so that only operations which ask for such a field spend a request on it.
 * Positions are made by `masking.ts` only.
 */
export class Sensor {
  readonly #ctx: UnifyContext;
  readonly #isListed: boolean;
  readonly #isNamesake: boolean;
  #project: Maybe<Side<ProjectRecord>> | undefined;
  #catalogue: Maybe<Side<CatalogueRecord>> | undefined;

  constructor(ctx: UnifyContext, parts: SensorParts) {
    this.#ctx = ctx;
    this.#isListed = parts.isListed ?? false;
    this.#isNamesake = parts.isNamesake ?? false;
    this.#project = parts.project;
    this.#catalogue = parts.catalogue;
  }

  /** The same sensor in another context, by which it then reads what is not known of it. */
  within(ctx: UnifyContext): Sensor {
    if (ctx === this.#ctx) return this;
    const known = <R>(side: Maybe<Side<R>> | undefined) =>
      side && !(side instanceof Promise) && 'record' in side ? side : undefined;
    const project = known(this.#project);
    const catalogue = known(this.#catalogue);
    // A sensor of which only a failed read is known keeps that failure.
    if (!project?.record && !catalogue?.record) return this;
    return sensorOf(ctx, { project, catalogue, isListed: this.#isListed, isNamesake: this.#isNamesake });
  }

  /** The project's record; null for a sensor that the project does not have. */
  project(): Maybe<ProjectRecord | null> {
    return whenKnown(this.projectSide(), recordOf);
  }

  /** The catalogue's record, from its list or from its detail; null for a sensor that the catalogue does not have. */
  catalogue(): Maybe<CatalogueRecord | null> {
    return whenKnown(this.catalogueSide(), recordOf);
  }

  projectSide(): Maybe<Side<ProjectRecord>> {
    this.#project ??= settled(async () => {
      const record = await this.catalogue();
      return record && projectSide(this.#ctx, record);
    }).then((side) => {
      this.#project = side;
      return side;
    });
    return this.#project;
  }

  catalogueSide(): Maybe<Side<CatalogueRecord>> {
    this.#catalogue ??= settled(async () => {
      const record = await this.project();
      return record && catalogueSide(this.#ctx, record);
    }).then((side) => {
      this.#catalogue = side;
      return side;
    });
    return this.#catalogue;
  }

  /** The part of the global id after the type. It does not depend on the interface that the sensor was read from. */
  key(): Maybe<string> {
    return whenKnown(this.#primary(), (pair) => sensorKey({ ...pair, isNamesake: this.#isNamesake }));
  }

  /** Null for a sensor that the project does not have. */
  deviceId(): Maybe<DeviceId | null> {
    return this.#ofProject((record) => shownDeviceId(record));
  }

  catalogueId(): Maybe<CatalogueSensorId | null> {
    return this.#ofCatalogue(({ value }) => value.id);
  }

  serialNumber(): Maybe<Text> {
    return this.#ofCatalogue(({ value }) => value.serial_number);
  }

  /** Empty where neither interface gave one. */
  stationCode(): Maybe<string> {
    return whenKnown(this.projectSide(), (side) => {
      const project = recordOrNull(side);
      const own = project && known(project.value.station);
      if (own) return own;
      return whenKnown(this.catalogueSide(), (other) => {
        const catalogue = recordOrNull(other);
        return (catalogue && known(catalogue.value.station_code)) ?? '';
      });
    });
  }

  networkCode(): Maybe<Text> {
    return this.#merged(mergedFields.networkCode);
  }

  /** Of the catalogue's network; null where the catalogue does not have the sensor. */
  networkId(): Maybe<Text> {
    return this.#ofCatalogue(({ value }) => value.network_id);
  }

  model(): Maybe<Text> {
    return this.#merged(mergedFields.model);
  }

  firmwareVersion(): Maybe<Text> {
    return this.#merged(mergedFields.firmwareVersion);
  }

  /** One request; null where the catalogue does not have the sensor. */
  async locationCode(): Promise<Text> {
    return (await this.detail())?.value.location_code ?? null;
  }

  async createdAt(): Promise<MaybeInstant> {
    return instantOf((await this.detail())?.value.created_at ?? null);
  }

  lastSeenAt(): Maybe<MaybeInstant> {
    return whenKnown(this.#merged(mergedFields.lastSeen), instantOf);
  }

  /** Empty where upstream gave none. */
  statusText(): Maybe<string> {
    return whenKnown(
      this.#primary(),
      ({ project, catalogue }) => known((project ?? catalogue)?.value.status) ?? '',
    );
  }

  status(): Maybe<SensorStatus> {
    return whenKnown(this.#primary(), (pair) => statusOf(this.#ctx, pair));
  }

  /** Only the project has power and connectivity. */
  power() {
    return this.#ofProject(({ value }) => value.power);
  }

  connectivity() {
    return this.#ofProject(({ value }) => value.connectivity);
  }

  /** One request; null where the catalogue does not have the sensor. */
  async detail(): Promise<DetailRecord | null> {
    const id = await this.catalogueId();
    return id === null ? null : sensorDetail(this.#ctx, id);
  }

  /** The interfaces that are known to have the sensor. */
  sources(): Maybe<readonly ('PROJECT' | 'CATALOGUE')[]> {
    return whenBoth(this.projectSide(), this.catalogueSide(), (project, catalogue) => [
      ...(recordOrNull(project) ? (['PROJECT'] as const) : []),
      ...(recordOrNull(catalogue) ? (['CATALOGUE'] as const) : []),
    ]);
  }

  /** Read time of the oldest record that this answer is made of. */
  asOf(): Maybe<Instant> {
    const project = this.#project;
    const catalogue = this.#catalogue;
    const areKnown = [project, catalogue].every((side) => side !== undefined && !(side instanceof Promise));
    return areKnown ? this.#oldest(project, catalogue) : this.#oldestAsked();
  }

  /**
   * Waits one microtask so that sibling fields have started their reads. These count towards the age; this field
   * starts none itself.
   */
  async #oldestAsked(): Promise<Instant> {
    await null;
    return this.#oldest(await this.#project, await this.#catalogue);
  }

  #oldest(
    project: Maybe<Side<ProjectRecord>> | undefined,
    catalogue: Maybe<Side<CatalogueRecord>> | undefined,
  ): Instant {
    let oldestMs: ForwardMs = forever;
    for (const side of [project, catalogue]) {
      const record =
        side && !(side instanceof Promise) ? recordOrNull<{ readonly readAtMs: ForwardMs }>(side) : null;
      if (record) oldestMs = earliest(oldestMs, record.readAtMs);
    }
    return this.#ctx.dateOf(Number.isFinite(oldestMs) ? oldestMs : this.#ctx.clock.now());
  }

  /** The primary record, which decides the sensor's state: the project's where it has one. */
  #primary(): Maybe<Pair> {
    return whenKnown(this.projectSide(), (side) => {
      const project = recordOrNull(side);
      if (project) return { project, catalogue: null };
      return whenKnown(this.catalogueSide(), (other) => ({ project: null, catalogue: recordOrNull(other) }));
    });
  }

  /**
   * The first value in order of precedence. Throws only where none is there and a side that failed could have had it.
   */
  #merged(field: MergedField): Maybe<Text> {
    return whenKnown(this.projectSide(), (side) => {
      const project = recordOrNull(side);
      const own = project && field.project(project);
      if (own && !(own instanceof MalformedValue)) return own;
      return whenKnown(this.catalogueSide(), (otherSide) => {
        const catalogue = recordOrNull(otherSide);
        return whenKnown(catalogue && field.catalogue(catalogue, this.#ctx), (other) => {
          if (other) return other;
          if (own !== null) return own;
          if (this.#isListed) return other;
          recordOf(side);
          recordOf(otherSide);
          return other;
        });
      });
    });
  }

  #ofProject<T>(value: (record: ProjectRecord) => T): Maybe<T | null> {
    return whenKnown(this.projectSide(), (side) => this.#required(side, value));
  }

  #ofCatalogue<T>(value: (record: CatalogueRecord) => T): Maybe<T | null> {
    return whenKnown(this.catalogueSide(), (side) => this.#required(side, value));
  }

  #required<R, T>(side: Side<R>, value: (record: R) => T): T | null {
    const record = this.#isListed ? recordOrNull(side) : recordOf(side);
    return record && (value(record) ?? null);
  }
}

const shownDeviceId = derived(({ value }: ProjectRecord) => deviceIdOf(value.device_id) ?? value.device_id);

/**
 * The `Sensor` of these records, one object per operation. Items of a list are separate objects, because they treat a
 * failed side differently (`isListed`).
 */
export function sensorOf(ctx: UnifyContext, parts: SensorParts): Sensor {
  const sensors = ctx.once(parts.isListed ? createListedSensors : createSensors);
  const project = parts.project && recordOrNull(parts.project);
  const catalogue = parts.catalogue && recordOrNull(parts.catalogue);
  const key = project?.value ?? catalogue?.value;
  if (!key) return new Sensor(ctx, parts);
  const made = sensors.get(key) ?? new Sensor(ctx, parts);
  sensors.set(key, made);
  return made;
}

const createSensors = () => new Map<object, Sensor>();
const createListedSensors = () => new Map<object, Sensor>();

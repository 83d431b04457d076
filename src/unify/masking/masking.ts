/**
 * The only maker of a public position or distance (docs/behaviour.md 6.4, docs/interfaces.md P1). While the project masks its positions,
 * nothing of where the catalogue has one of its sensors may show, however it is asked for: not as a value, nor by a filter,
 * a distance, an arrival or a name.
 */

import { type Maybe, whenKnown } from '../../maybe.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import type { Point } from '../geo/geodesy.js';
import { networkCodeOf } from '../network/code-lookup.js';
import { sensorDetail } from '../sensor/detail.js';
import {
  type CatalogueRecord,
  deviceKey,
  type Pair,
  type ProjectRecord,
  serialKey,
} from '../sensor/identity.js';
import { createInventory } from '../sensor/inventory/inventory.js';
import { projectSensorAgain } from '../sensor/inventory/project-sensors.js';
import type { Sensor } from '../sensor/sensor.js';
import type { Side } from '../sensor/side.js';
import {
  isPosition,
  type PublicPosition,
  pointOf,
  pointOrNull,
  type Verdict,
  verdictOf,
  verdictOrNull,
} from './position.js';
import { createMaskSetting, lookEveryMs, type Mask, type MaskSetting, withheldBy } from './setting.js';

/**
 * Where a sensor may be shown: the project's position whole where it has one, else the catalogue's where masking permits.
 * Null when there is none, or it is masked away. @throws PositionWithheld as long as it is not known whether it may be shown
 */
export function publicPosition(ctx: UnifyContext, sensor: Sensor): Maybe<PublicPosition | null> {
  return whenKnown(sensor.projectHalf(), (half) => {
    if (!('record' in half) || !half.record) return positionBeside(ctx, sensor, half);
    return whenKnown(projectPosition(ctx, half.record), (own) => own ?? positionBeside(ctx, sensor, half));
  });
}

/** Where the project gives no position of its own. */
function positionBeside(
  ctx: UnifyContext,
  sensor: Sensor,
  half: Side<ProjectRecord>,
): Maybe<PublicPosition | null> {
  const setting = ctx.tracked(createMaskSetting);
  return whenKnown(setting.look(ctx), (mask) => {
    if (mask === 'unknown') throw withheldBy(setting.failure);
    if (mask === 'masked' && 'record' in half && half.record) return null;
    return whenKnown(sensor.catalogue(), (catalogue) => {
      if (!catalogue) {
        if ('failure' in half) throw half.failure;
        return null;
      }
      if (mask === 'open') return cataloguePosition(ctx, catalogue);
      if ('failure' in half) throw withheldBy(half.failure);
      return isElsewhere(ctx, catalogue).then((isOther) =>
        isOther ? cataloguePosition(ctx, catalogue) : null,
      );
    });
  });
}

/** True also while it is not known: a position, distance or arrival time of the catalogue may not be shown then. */
export async function isMasked(ctx: UnifyContext, sensor: Sensor): Promise<boolean> {
  const mask = await ctx.tracked(createMaskSetting).look(ctx);
  if (mask === 'unknown') return true;
  const half = await sensor.projectHalf();
  if (!('record' in half)) return mask === 'masked';
  if (half.record) return mask === 'masked' || known(half.record.value.location?.masked) === true;
  if (mask === 'open') return false;
  const catalogue = await sensor.catalogue();
  return !catalogue || !(await isElsewhere(ctx, catalogue).catch(() => false));
}

/** Whether the project masks its positions, as it said within the last 30 seconds, or said last. */
export function mask(ctx: UnifyContext): Maybe<Mask> {
  return ctx.tracked(createMaskSetting).look(ctx);
}

/**
 * What the project itself withholds while masked (a trigger's location name, a GPS position), as it was read at `readAtMs`:
 * null while masked, also where upstream did not withhold it. @throws PositionWithheld when it is not known
 */
export function unlessMasked<T>(ctx: UnifyContext, value: T | null, readAtMs: number): Maybe<T | null> {
  if (value === null || !ctx.project) return value;
  const setting = ctx.tracked(createMaskSetting);
  return whenKnown(setting.look(ctx), (said) => {
    if (said === 'unknown') throw withheldBy(setting.failure);
    return said === 'masked' || readAtMs < setting.changedAtMs ? null : value;
  });
}

/**
 * Positions of many sensors at a time, for filters: as `publicPosition`, null also where it is withheld. `withheld` is why
 * some may be, or null.
 */
export interface PositionView {
  positionOf(pair: Pair): Point | null;
  readonly withheld: unknown;
}

/** What the view needs to know of the project's list: that it is whole, and who may be at one of its stations. */
export interface ProjectMembership {
  readonly isWhole: boolean;
  readonly besideProject: ReadonlySet<CatalogueRecord>;
}

export function positionView(ctx: UnifyContext, membership: ProjectMembership): PositionView {
  const setting = ctx.tracked(createMaskSetting);
  setting.note(ctx);
  return {
    positionOf({ project, catalogue }) {
      if (project && pointOrNull(project.value.location)) {
        const verdict = verdictOrNull(ctx, project, setting);
        return isPosition(verdict) ? verdict : null;
      }
      if (!catalogue || setting.mask === 'unknown') return null;
      if (setting.mask === 'masked') {
        if (project || !membership.isWhole || membership.besideProject.has(catalogue)) return null;
      }
      return pointOrNull(catalogue.value.location);
    },
    withheld: setting.mask === 'unknown' ? setting.failure : null,
  };
}

/**
 * Before positions of a whole list are compared: looks at the setting, and says whether the list was read under another one
 * and must be read again.
 */
export async function isListOutdated(ctx: UnifyContext, records: Iterable<ProjectRecord>): Promise<boolean> {
  const setting = ctx.tracked(createMaskSetting);
  await setting.look(ctx);
  let disagreeing: ProjectRecord | undefined;
  for (const record of records) {
    if (record.readAtMs < setting.changedAtMs) return true;
    const told = known(record.value.location?.masked);
    if (told !== null && told !== (setting.mask === 'masked')) disagreeing ??= record;
  }
  if (!disagreeing) return false;
  await lookFor(ctx, setting, disagreeing);
  const outdated = verdictOrNull(ctx, disagreeing, setting) === 'outdated';
  if (outdated) setting.discardOlder();
  return outdated;
}

function projectPosition(ctx: UnifyContext, record: ProjectRecord): Maybe<PublicPosition | null> {
  const setting = ctx.tracked(createMaskSetting);
  return whenKnown(lookFor(ctx, setting, record), () => {
    const verdict = verdictOf(ctx, record, setting);
    return verdict === 'outdated' ? projectPositionAgain(ctx, setting, record) : shownBy(setting, verdict);
  });
}

/** Of a record that was read under another setting. */
async function projectPositionAgain(
  ctx: UnifyContext,
  setting: MaskSetting,
  record: ProjectRecord,
): Promise<PublicPosition | null> {
  setting.discardOlder();
  const again = await projectSensorAgain(ctx, deviceKey(record));
  if (!again) return null;
  await lookFor(ctx, setting, again);
  return shownBy(setting, verdictOf(ctx, again, setting));
}

function shownBy(setting: MaskSetting, verdict: Verdict): PublicPosition | null {
  if (verdict === null || isPosition(verdict)) return verdict;
  throw withheldBy(setting.failure);
}

/** Looks at the setting where the record alone does not tell what may be shown of it. */
function lookFor(ctx: UnifyContext, setting: MaskSetting, record: ProjectRecord): Maybe<unknown> {
  setting.note(ctx);
  const told = known(record.value.location?.masked);
  const isOld = ctx.hasPassed(record.readAtMs + lookEveryMs);
  const disagrees = told === true ? setting.mask !== 'masked' : told === false && setting.mask === 'masked';
  if (disagrees) setting.doubt(record.readAtMs);
  // A record that is masked may be shown as that, whatever the project says.
  return isOld || told === null || (disagrees && setting.mask !== 'unknown') ? setting.look(ctx) : null;
}

/** Whether a record of the catalogue is surely of no sensor of the project. @throws when the project's list is not whole */
async function isElsewhere(ctx: UnifyContext, { value }: CatalogueRecord): Promise<boolean> {
  const list = ctx.tracked(createInventory).project;
  if (!list) return true;
  const listed = await list.read(ctx);
  if (!listed.complete || listed.dropped > 0) throw withheldBy(listed.failure);
  if (listed.records.has(serialKey(value.serial_number) ?? '')) return false;
  const station = known(value.station_code);
  const networks: (string | null)[] = [];
  for (const record of listed.records.values()) {
    if (station && known(record.value.station) === station) networks.push(known(record.value.network));
  }
  if (networks.length === 0) return true;
  const code = await networkCodeOf(ctx, value);
  return code !== null && !networks.some((network) => network === null || network === code);
}

function cataloguePosition(ctx: UnifyContext, record: CatalogueRecord): PublicPosition | null {
  const point = pointOf(record.value.location);
  if (!point) return null;
  return {
    ...point,
    elevationM: record.value.location?.elevation ?? null,
    masked: false,
    siteName: async () => (await sensorDetail(ctx, record.value.id))?.value.location?.site_name ?? null,
  };
}

import { type ForwardMs, plus } from '../../clock.js';
/**
 * Only this module makes public positions and distances (docs/behaviour.md 6.4, docs/interfaces.md P1). While the
 * project masks its positions, the catalogue's position of a project sensor must not leak by any path: value, filter,
 * distance, arrival or name.
 */

import { type Maybe, whenKnown } from '../../maybe.js';
import { known } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import type { Point } from '../geo/geodesy.js';
import { networkCodeOf } from '../network/code-lookup.js';
import { sensorDetail } from '../sensor/detail.js';
import { type CatalogueRecord, type Pair, type ProjectRecord, serialKey } from '../sensor/identity.js';
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
import { createMaskSetting, type Mask, type MaskSetting, revalidateEveryMs, withheldBy } from './setting.js';

/**
 * The position at which a sensor may be shown: the project's, whole, where it has one, else the catalogue's where
 * masking permits. Null when there is none or masking hides it.
 * @throws PositionWithheld while it is not known whether it is masked
 */
export function publicPosition(ctx: UnifyContext, sensor: Sensor): Maybe<PublicPosition | null> {
  return whenKnown(sensor.projectSide(), (side) => {
    if (!('record' in side) || !side.record) return positionBeside(ctx, sensor, side);
    return whenKnown(projectPosition(ctx, side.record), (own) => own ?? positionBeside(ctx, sensor, side));
  });
}

/** The public position of a sensor for which the project has no position. */
function positionBeside(
  ctx: UnifyContext,
  sensor: Sensor,
  side: Side<ProjectRecord>,
): Maybe<PublicPosition | null> {
  const setting = ctx.tracked(createMaskSetting);
  return whenKnown(setting.read(ctx), (mask) => {
    if (mask === 'unknown') throw withheldBy(setting.failure);
    if (mask === 'masked' && 'record' in side && side.record) return null;
    return whenKnown(sensor.catalogue(), (catalogue) => {
      if (!catalogue) {
        if ('failure' in side) throw side.failure;
        return null;
      }
      if (mask === 'open') return cataloguePosition(ctx, catalogue);
      if ('failure' in side) throw withheldBy(side.failure);
      return isOutsideProject(ctx, catalogue).then((isOutside) =>
        isOutside ? cataloguePosition(ctx, catalogue) : null,
      );
    });
  });
}

/**
 * True when the catalogue's positions, distances and arrival times must not be shown for this sensor. True also while
 * the setting is not known.
 */
export async function isMasked(ctx: UnifyContext, sensor: Sensor): Promise<boolean> {
  const mask = await ctx.tracked(createMaskSetting).read(ctx);
  if (mask === 'unknown') return true;
  const side = await sensor.projectSide();
  if (!('record' in side)) return mask === 'masked';
  if (side.record) return mask === 'masked' || known(side.record.value.location?.masked) === true;
  if (mask === 'open') return false;
  const catalogue = await sensor.catalogue();
  return !catalogue || !(await isOutsideProject(ctx, catalogue).catch(() => false));
}

/** The project's masking setting: at most 30 seconds old, or the last known one where the project cannot be asked. */
export function mask(ctx: UnifyContext): Maybe<Mask> {
  return ctx.tracked(createMaskSetting).read(ctx);
}

/**
 * A value, read at `readAtMs`, that the project itself withholds while masked (a trigger's location name, a GPS
 * position): null while masked, even where upstream sent it.
 * @throws PositionWithheld while the setting is not known
 */
export function unlessMasked<T>(ctx: UnifyContext, value: T | null, readAtMs: ForwardMs): Maybe<T | null> {
  if (value === null || !ctx.project) return value;
  const setting = ctx.tracked(createMaskSetting);
  return whenKnown(setting.read(ctx), (current) => {
    if (current === 'unknown') throw withheldBy(setting.failure);
    return current === 'masked' || readAtMs < setting.changedAtMs ? null : value;
  });
}

/**
 * Positions and names of sites of many sensors at a time, for filters: as `publicPosition`, but null where they are
 * withheld. `withheld` is the failure that withholds them, or null.
 */
export interface LocationView {
  positionOf(pair: Pair): Point | null;
  /** The project's name of the site; the catalogue's would cost a request for each sensor, so it is null here. */
  siteNameOf(pair: Pair): string | null;
  readonly withheld: unknown;
}

/**
 * The project's list as the view needs it: whether it is complete, and which catalogue records may be at its stations.
 */
export interface ProjectMembership {
  readonly isWhole: boolean;
  readonly besideProject: ReadonlySet<CatalogueRecord>;
}

export function locationView(ctx: UnifyContext, membership: ProjectMembership): LocationView {
  const setting = ctx.tracked(createMaskSetting);
  setting.note(ctx);
  return {
    positionOf({ project, catalogue }) {
      if (project && pointOrNull(project.value.location)) {
        const verdict = verdictOrNull(project, setting);
        return isPosition(verdict) ? verdict : null;
      }
      if (!catalogue || setting.mask === 'unknown') return null;
      if (setting.mask === 'masked') {
        if (project || !membership.isWhole || membership.besideProject.has(catalogue)) return null;
      }
      return pointOrNull(catalogue.value.location);
    },
    siteNameOf({ project }) {
      const verdict = project && verdictOrNull(project, setting);
      return isPosition(verdict) && !verdict.masked ? known(project?.value.location?.name) : null;
    },
    withheld: setting.mask === 'unknown' ? setting.failure : null,
  };
}

/**
 * Call before comparing positions of a whole list: reads the setting. True when the list was read under another setting
 * and must be read again.
 */
export async function isListOutdated(ctx: UnifyContext, records: Iterable<ProjectRecord>): Promise<boolean> {
  const setting = ctx.tracked(createMaskSetting);
  await setting.read(ctx);
  let disagreeing: ProjectRecord | undefined;
  for (const record of records) {
    if (record.readAtMs < setting.changedAtMs) return true;
    const saidMasked = known(record.value.location?.masked);
    if (saidMasked !== null && saidMasked !== (setting.mask === 'masked')) disagreeing ??= record;
  }
  if (!disagreeing) return false;
  await checkSettingFor(ctx, setting, disagreeing);
  const outdated = verdictOrNull(disagreeing, setting) === 'outdated';
  if (outdated) setting.discardOlder();
  return outdated;
}

function projectPosition(ctx: UnifyContext, record: ProjectRecord): Maybe<PublicPosition | null> {
  const setting = ctx.tracked(createMaskSetting);
  return whenKnown(checkSettingFor(ctx, setting, record), () => {
    const verdict = verdictOf(record, setting);
    return verdict === 'outdated' ? projectPositionAgain(ctx, setting, record) : shownBy(setting, verdict);
  });
}

/** Reads again a record that was read under another setting. */
async function projectPositionAgain(
  ctx: UnifyContext,
  setting: MaskSetting,
  record: ProjectRecord,
): Promise<PublicPosition | null> {
  setting.discardOlder();
  const again = await projectSensorAgain(ctx, record.value.device_id);
  if (!again) return null;
  await checkSettingFor(ctx, setting, again);
  return shownBy(setting, verdictOf(again, setting));
}

function shownBy(setting: MaskSetting, verdict: Verdict): PublicPosition | null {
  if (verdict === null || isPosition(verdict)) return verdict;
  throw withheldBy(setting.failure);
}

/** Reads the setting where the record alone does not decide whether its position may be shown. */
function checkSettingFor(ctx: UnifyContext, setting: MaskSetting, record: ProjectRecord): Maybe<unknown> {
  setting.note(ctx);
  const saidMasked = known(record.value.location?.masked);
  const isOld = ctx.hasExpired(plus(record.readAtMs, revalidateEveryMs));
  const disagrees =
    saidMasked === true ? setting.mask !== 'masked' : saidMasked === false && setting.mask === 'masked';
  if (disagrees) setting.doubt(record.readAtMs);
  // A record marked as masked may be shown as masked, whatever the project's setting is.
  const isOpenAtMost = saidMasked !== true && setting.mask === 'unknown';
  const isDue = isOld || saidMasked === null || isOpenAtMost || (disagrees && setting.mask !== 'unknown');
  return isDue ? setting.read(ctx) : null;
}

/**
 * True when a catalogue record is certainly not a sensor of the project.
 * @throws when the project's list is incomplete
 */
async function isOutsideProject(ctx: UnifyContext, { value }: CatalogueRecord): Promise<boolean> {
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

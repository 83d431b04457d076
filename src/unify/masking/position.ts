import type { Maybe } from '../../maybe.js';
import { known, MalformedValue, type Num, type Text } from '../../upstream/decode/fields.js';
import type { UnifyContext } from '../context.js';
import type { Point } from '../geo/geodesy.js';
import type { ProjectRecord } from '../sensor/identity.js';
import { lookEveryMs, type MaskSetting } from './setting.js';

/** Where a sensor may be shown. */
export interface PublicPosition extends Point {
  /** Metres; while masked rounded to 100 m by upstream. */
  readonly elevationM: Num;
  /** Displaced by 500 to 1000 m. */
  readonly masked: boolean;
  /** Of the site; null while masked. The catalogue's costs a request. */
  readonly siteName: () => Maybe<Text>;
}

export type Verdict = PublicPosition | 'outdated' | 'withheld' | null;

/**
 * What may be shown of the project's own position. `outdated`: it was read under another setting and must be read again;
 * `withheld`: record and project disagree, or the project has not said.
 */
export function verdictOf(ctx: UnifyContext, record: ProjectRecord, setting: MaskSetting): Verdict {
  const location = record.value.location;
  const point = pointOf(location);
  if (!location || !point) return null;
  if (record.readAtMs < setting.changedAtMs) return 'outdated';
  const told = known(location.masked);
  const position = { ...point, elevationM: location.elevation_m };
  // docs/behaviour.md 6.4: a record that says so is masked at once, whatever was heard before.
  const masked: PublicPosition = { ...position, masked: true, siteName: () => null };
  const open: PublicPosition = { ...position, masked: false, siteName: () => location.name };
  if (told === true) return masked;
  switch (setting.mask) {
    case 'open':
      return open;
    case 'masked':
      // Assumed: a masked project displaces every position it sends; one that it calls open is not, for whatever reason.
      if (told === null) return masked;
      return setting.isFirstHeard && record.readAtMs < setting.saidAtMs ? 'outdated' : 'withheld';
    case 'unknown':
      // Upstream has displaced what it masks: what it called open half a minute ago may be shown as that.
      return told === false && !ctx.hasPassed(record.readAtMs + lookEveryMs) ? open : 'withheld';
  }
}

export function verdictOrNull(ctx: UnifyContext, record: ProjectRecord, setting: MaskSetting): Verdict {
  return pointOrNull(record.value.location) && verdictOf(ctx, record, setting);
}

export function isPosition(verdict: Verdict): verdict is PublicPosition {
  return typeof verdict === 'object' && verdict !== null;
}

interface Degrees {
  readonly latitude: Num;
  readonly longitude: Num;
}

/** The place of a record; null without one. @throws MalformedValue when it is none on the globe */
export function pointOf(location: Degrees | null): Point | null {
  const { latitude, longitude } = location ?? { latitude: null, longitude: null };
  if (latitude instanceof MalformedValue) throw latitude;
  if (longitude instanceof MalformedValue) throw longitude;
  if (latitude === null || longitude === null) return null;
  if (Math.abs(latitude) > 90) throw new MalformedValue('Upstream sent a latitude beyond the pole');
  return { latitude, longitude };
}

/** The same for comparisons: null also where it is malformed. */
export function pointOrNull(location: Degrees | null): Point | null {
  try {
    return pointOf(location);
  } catch {
    return null;
  }
}

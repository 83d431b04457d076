import type { Maybe } from '../../maybe.js';
import { known, MalformedValue, type Num, type Text } from '../../upstream/decode/fields.js';
import type { Point } from '../geo/geodesy.js';
import type { ProjectRecord } from '../sensor/identity.js';
import type { MaskSetting } from './setting.js';

/** The position at which a sensor may be shown. */
export interface PublicPosition extends Point {
  /** Metres; upstream rounds it to 100 m while masked. */
  readonly elevationM: Num;
  /** True when upstream has displaced the position, by 500 to 1000 m. */
  readonly masked: boolean;
  /** Null while masked. The catalogue's site name costs a request. */
  readonly siteName: () => Maybe<Text>;
}

export type Verdict = PublicPosition | 'outdated' | 'withheld' | null;

/**
 * Decides whether the project's own position may be shown. `outdated`: it was read under another setting and must be
 * read again. `withheld`: record and project disagree, or the setting is not known.
 */
export function verdictOf(record: ProjectRecord, setting: MaskSetting): Verdict {
  const location = record.value.location;
  const point = pointOf(location);
  if (!location || !point) return null;
  if (record.readAtMs < setting.changedAtMs) return 'outdated';
  const saidMasked = known(location.masked);
  const position = { ...point, elevationM: location.elevation_m };
  // docs/behaviour.md 6.4: a record marked as masked is masked at once, whatever the setting was before.
  const masked: PublicPosition = { ...position, masked: true, siteName: () => null };
  const open: PublicPosition = { ...position, masked: false, siteName: () => location.name };
  if (saidMasked === true) return masked;
  switch (setting.mask) {
    case 'open':
      return open;
    case 'masked':
      // Assumed: a masked project displaces every position it sends; one marked as not masked is not displaced.
      if (saidMasked === null) return masked;
      return setting.hasNeverChanged && record.readAtMs < setting.saidAtMs ? 'outdated' : 'withheld';
    case 'unknown':
      // The project counts as masked until it has said so itself, whatever the record says.
      return 'withheld';
  }
}

export function verdictOrNull(record: ProjectRecord, setting: MaskSetting): Verdict {
  return pointOrNull(record.value.location) && verdictOf(record, setting);
}

export function isPosition(verdict: Verdict): verdict is PublicPosition {
  return typeof verdict === 'object' && verdict !== null;
}

interface Degrees {
  readonly latitude: Num;
  readonly longitude: Num;
}

/** The position of a record; null without one. @throws MalformedValue when a coordinate is malformed or out of range */
export function pointOf(location: Degrees | null): Point | null {
  const { latitude, longitude } = location ?? { latitude: null, longitude: null };
  if (latitude instanceof MalformedValue) throw latitude;
  if (longitude instanceof MalformedValue) throw longitude;
  if (latitude === null || longitude === null) return null;
  if (Math.abs(latitude) > 90) throw new MalformedValue('Upstream sent a latitude beyond the pole');
  return { latitude, longitude };
}

/** As `pointOf`, for comparisons: null where the position is malformed. */
export function pointOrNull(location: Degrees | null): Point | null {
  try {
    return pointOf(location);
  } catch {
    return null;
  }
}

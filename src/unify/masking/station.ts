import type { UnifyContext } from '../context.js';
import { unifySensors } from '../sensor/inventory/merging.js';
import { sensorsOfStationCode } from '../sensor/lookup.js';
import { isMasked, mask } from './masking.js';

/**
 * Whether what the catalogue says of a station, such as an arrival, may tell where a sensor of the project stands. It names the
 * station without a network: while the project is masked, each sensor that it may mean must be known to be none of the
 * project's, and there must be one at all. True as well while the lists of sensors are not whole.
 */
export async function isStationMasked(ctx: UnifyContext, stationCode: string): Promise<boolean> {
  const setting = await mask(ctx);
  if (setting === 'open') return false;
  if (setting === 'unknown') return true;
  const lists = await unifySensors(ctx);
  if ([lists.project, lists.catalogue].some((list) => list && (!list.complete || list.dropped > 0)))
    return true;
  const sensors = await sensorsOfStationCode(ctx, stationCode);
  const masked = await Promise.all(sensors.map((sensor) => isMasked(ctx, sensor)));
  return sensors.length === 0 || masked.includes(true);
}

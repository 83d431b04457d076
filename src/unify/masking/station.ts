import type { UnifyContext } from '../context.js';
import { unifySensors } from '../sensor/inventory/merging.js';
import { sensorsOfStationCode } from '../sensor/lookup.js';
import { isMasked, mask } from './masking.js';

/**
 * True when catalogue data about a station, such as an arrival, could reveal the position of a project sensor. Such
 * data names the station without a network. So while the project is masked, it may be shown only if at least one sensor
 * has the station code and none of them can be the project's. True as well while the lists of sensors are incomplete.
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

import { dayMs } from '../../clock.js';
import type { CatalogueData } from '../world.js';
import type { CatalogueEvent, CatalogueNetwork, NetworkStats } from './records.js';

/** The statistics given for the network (docs/interfaces.md C2), or else those that follow from its records. */
export function statsOf(
  data: CatalogueData,
  network: CatalogueNetwork,
  nowMs: number,
  originMsOf: (event: CatalogueEvent) => number,
): NetworkStats {
  const known = data.stats[network.id];
  if (known) return known;
  const sensors = data.sensors.filter((sensor) => sensor.network_id === network.id);
  const online = sensors.filter((sensor) => sensor.status === 'online').length;
  const since = nowMs - 30 * dayMs;
  const events = data.events.filter((event) => event.network_id === network.id && originMsOf(event) >= since);
  return {
    network_id: network.id,
    total_sensors: sensors.length,
    online_sensors: online,
    offline_sensors: sensors.length - online,
    events_30d: events.length,
    data_completeness: sensors.length === 0 ? null : Math.round((online / sensors.length) * 1000) / 1000,
  };
}

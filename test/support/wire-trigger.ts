import type { WireTrigger } from '../../src/upstream/project/wire.js';

/** A trigger as the project's decoder gives it; what is not named is null. */
export function aWireTrigger(
  fields: Pick<WireTrigger, 'id' | 'device_id' | 'station' | 'start_time' | 'status'> & Partial<WireTrigger>,
): WireTrigger {
  return {
    location_name: null,
    end_time: null,
    peak_time: null,
    pga_horizontal_mg: null,
    pga_hne_mg: null,
    pga_hnn_mg: null,
    pga_hnz_mg: null,
    pgv_ehz_mm_s: null,
    peak_ehz_counts: null,
    peak_hz: null,
    ...fields,
  };
}

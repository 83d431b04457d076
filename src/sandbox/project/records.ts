/**
 * Records of the project interface, spelled as in docs/interfaces.md P2. What can be absent in a real answer can be null
 * here, so that tests can write any world down literally.
 */
export interface ProjectRecord {
  id: string;
  name: string;
  network_code: string;
  /** Null: as many as the project has sensors. */
  sensor_count: number | null;
  /** May be switched at any moment; the next answer obeys it. */
  location_masked: boolean;
}

export interface ProjectSensor {
  device_id: string;
  station: string;
  network: string | null;
  sensor_type: string | null;
  firmware: string | null;
  status: string;
  last_seen: string | null;
  location: ProjectLocation | null;
  power: { battery_volts: number | null; charging: boolean | null; source: string | null } | null;
  connectivity: { type: string | null; signal_strength: number | null } | null;
}

/** The true site; masking is applied when it is served. */
interface ProjectLocation {
  latitude: number;
  longitude: number;
  elevation_m: number | null;
  name: string | null;
}

export interface HealthReport {
  timestamp: string;
  received_at: string | null;
  firmware: string | null;
  power_source: string | null;
  connection_type: string | null;
  signal_strength: number | null;
  uptime_s: number | null;
  reboot_reason: string | null;
  clock_quality: string | null;
  sync_age_s: number | null;
  data_tx_bytes: number | null;
  data_rx_bytes: number | null;
  battery_volts: number | null;
  charging: boolean | null;
  temperature_c: number | null;
  free_heap_bytes: number | null;
  buffer_usage_pct: number | null;
  // Assumed: one object under `gps`; docs/interfaces.md P2 names neither the fields nor their types.
  gps: { latitude: number; longitude: number; elevation_m: number; satellites: number } | null;
}

export interface ProjectOrigin {
  // Assumed: text or number; docs/interfaces.md P2 leaves the type of an origin's id open.
  id: string | number;
  latitude: number;
  longitude: number;
  /** Kilometres. */
  depth: number | null;
  /** Unix seconds, with fraction. */
  origin_time: number;
  /** Unix seconds, with fraction. */
  issued_at: number | null;
}

/** As the detail has it; the list leaves out the solutions. */
export interface ProjectEvent {
  id: string;
  issued_at: string;
  magnitude: number | null;
  origin: ProjectOrigin | null;
  station_count: number | null;
  pick_stations: string[] | null;
  origins: unknown[];
  magnitudes: unknown[];
  picks: unknown[];
  amplitudes: unknown[];
  descriptions: unknown[];
}

export interface ProjectTrigger {
  id: number;
  device_id: string;
  station: string | null;
  location_name: string | null;
  start_time: string;
  end_time: string | null;
  peak_time: string | null;
  pga_horizontal_mg: number | null;
  pga_hne_mg: number | null;
  pga_hnn_mg: number | null;
  pga_hnz_mg: number | null;
  pgv_ehz_mm_s: number | null;
  peak_ehz_counts: number | null;
  peak_hz: number | null;
  status: string;
}

/**
 * Records of the catalogue interface, spelled as in docs/interfaces.md C2 and kept in the shape of the detail; lists leave out
 * what only the detail has. What can be absent in a real answer can be null here.
 */
export interface CatalogueSensor {
  id: string;
  serial_number: string | null;
  type: string | null;
  station_code: string;
  network_id: string | null;
  status: string;
  location: CatalogueLocation | null;
  last_seen: string | null;
  network_code: string | null;
  location_code: string | null;
  firmware_version: string | null;
  created_at: string | null;
}

interface CatalogueLocation {
  latitude: number;
  longitude: number;
  elevation: number | null;
  site_name: string | null;
}

export interface CatalogueEvent {
  id: string;
  origin_time: string;
  latitude: number;
  longitude: number;
  depth_km: number | null;
  magnitude: number | null;
  magnitude_type: string | null;
  location_description: string | null;
  status: string | null;
  network_id: string | null;
  depth_uncertainty_km: number | null;
  horizontal_uncertainty_km: number | null;
  magnitude_uncertainty: number | null;
  quality: { stations_used: number | null; azimuthal_gap: number | null; rms_residual: number | null } | null;
  stations: CatalogueArrival[] | null;
  created_at: string | null;
}

interface CatalogueArrival {
  station_code: string;
  distance_km: number | null;
  p_arrival: string | null;
  s_arrival: string | null;
}

export interface CatalogueNetwork {
  id: string;
  name: string | null;
  description: string | null;
  organization_id: string | null;
  sensor_count: number | null;
  created_at: string | null;
}

export interface NetworkStats {
  network_id: string;
  total_sensors: number | null;
  online_sensors: number | null;
  offline_sensors: number | null;
  events_30d: number | null;
  data_completeness: number | null;
}

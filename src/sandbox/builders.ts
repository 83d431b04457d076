import type { CatalogueEvent, CatalogueNetwork, CatalogueSensor } from './catalogue/records.js';
import type { HealthReport, ProjectEvent, ProjectSensor, ProjectTrigger } from './project/records.js';
import { instantOf } from './time.js';

/** A record of the project interface with plausible values; give what the test is about. */
export function aSensor(fields: Partial<ProjectSensor> = {}): ProjectSensor {
  return {
    device_id: '001A2B3C4D5E',
    station: 'TEST',
    network: 'SX',
    sensor_type: 'SA-3',
    firmware: '4.2.1',
    status: 'online',
    last_seen: '2026-01-01T00:00:00Z',
    location: { latitude: 34.05, longitude: -118.25, elevation_m: 93, name: 'Test vault' },
    power: { battery_volts: 12.6, charging: true, source: 'solar' },
    connectivity: { type: 'wifi', signal_strength: -61 },
    ...fields,
  };
}

export function aHealthReport(fields: Partial<HealthReport> = {}): HealthReport {
  return {
    timestamp: '2026-01-01T00:00:00Z',
    received_at: '2026-01-01T00:00:02Z',
    firmware: '4.2.1',
    power_source: 'solar',
    connection_type: 'wifi',
    signal_strength: -61,
    uptime_s: 86_400,
    reboot_reason: 'power_on',
    clock_quality: 'locked',
    sync_age_s: 3,
    data_tx_bytes: 1_000_000,
    data_rx_bytes: 20_000,
    battery_volts: 12.6,
    charging: true,
    temperature_c: 21.5,
    free_heap_bytes: 120_000,
    buffer_usage_pct: 4,
    gps: null,
    ...fields,
  };
}

/** The latest origin and one solution of each kind follow from the fields given. */
export function anEvent(fields: Partial<ProjectEvent> = {}): ProjectEvent {
  const issuedAt = fields.issued_at ?? '2026-01-01T00:00:20Z';
  const issuedS = (instantOf(issuedAt) ?? 0) / 1000;
  const origin =
    fields.origin === undefined
      ? {
          id: 'org_1',
          latitude: 34.1,
          longitude: -118.3,
          depth: 8.2,
          origin_time: issuedS - 20,
          issued_at: issuedS,
        }
      : fields.origin;
  return {
    id: 'evt_1',
    issued_at: issuedAt,
    magnitude: 2.4,
    origin,
    station_count: 5,
    pick_stations: ['TEST'],
    origins: origin ? [origin] : [],
    magnitudes: [],
    picks: [],
    amplitudes: [],
    descriptions: [],
    ...fields,
  };
}

export function aTrigger(fields: Partial<ProjectTrigger> = {}): ProjectTrigger {
  return {
    id: 1,
    device_id: '001A2B3C4D5E',
    station: 'TEST',
    location_name: 'Test vault',
    start_time: '2026-01-01T00:00:05Z',
    end_time: '2026-01-01T00:00:35Z',
    peak_time: '2026-01-01T00:00:09Z',
    pga_horizontal_mg: 4.1,
    pga_hne_mg: 3.2,
    pga_hnn_mg: 2.6,
    pga_hnz_mg: 1.9,
    pgv_ehz_mm_s: 1.2,
    peak_ehz_counts: 48_000,
    peak_hz: 6.5,
    status: 'closed',
    ...fields,
  };
}

export function aCatalogueSensor(fields: Partial<CatalogueSensor> = {}): CatalogueSensor {
  return {
    id: 'sen_1',
    serial_number: '001A2B3C4D5E',
    type: 'accelerograph',
    station_code: 'TEST',
    network_id: 'net_1',
    status: 'online',
    location: { latitude: 34.05, longitude: -118.25, elevation: 93, site_name: 'Test vault' },
    last_seen: '2026-01-01T00:00:00Z',
    network_code: 'SX',
    location_code: '00',
    firmware_version: '4.2.1',
    created_at: '2024-05-01T00:00:00Z',
    ...fields,
  };
}

export function aCatalogueEvent(fields: Partial<CatalogueEvent> = {}): CatalogueEvent {
  return {
    id: 'cat_1',
    origin_time: '2026-01-01T00:00:00.000000Z',
    latitude: 34.1,
    longitude: -118.3,
    depth_km: 8.2,
    magnitude: 2.4,
    magnitude_type: 'ml',
    location_description: '6km NNW of Testville',
    status: 'reviewed',
    network_id: 'net_1',
    depth_uncertainty_km: 0.8,
    horizontal_uncertainty_km: 0.4,
    magnitude_uncertainty: 0.1,
    quality: { stations_used: 8, azimuthal_gap: 74, rms_residual: 0.12 },
    stations: [],
    created_at: '2026-01-01T00:01:00Z',
    ...fields,
  };
}

export function aNetwork(fields: Partial<CatalogueNetwork> = {}): CatalogueNetwork {
  return {
    id: 'net_1',
    name: 'Test network',
    description: 'Sensors of the tests',
    organization_id: 'org_1',
    sensor_count: 1,
    created_at: '2024-01-01T00:00:00Z',
    ...fields,
  };
}

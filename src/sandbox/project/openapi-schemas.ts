/** The shapes of docs/interfaces.md P2 and P7 as JSON Schema. */
export const openapiSchemas = {
  Error: object({
    error: object({
      code: text('Machine-readable cause.'),
      message: text('For people; names a wrong parameter.'),
    }),
  }),
  Project: object({
    id: text('Identifier of the project.'),
    name: text(),
    network_code: text('Seismic network code.'),
    sensor_count: integer(),
    location_masked: { type: 'boolean', description: 'True when location masking is on.' },
    api_key_id: text('Identifier of the key used for the request.'),
  }),
  Sensor: object({
    device_id: { ...text('Device ID.'), pattern: '^[0-9A-F]{12}$' },
    station: text('Station code.'),
    network: text('Network code.'),
    sensor_type: text('Model name.'),
    firmware: text('Version.'),
    status: text('`online` while the sensor reported within the last 150 seconds.'),
    last_seen: orNull(time()),
    location: orNull(
      object({
        latitude: number('Degrees; displaced by 500 to 1000 m while masked.'),
        longitude: number('Degrees; displaced by 500 to 1000 m while masked.'),
        elevation_m: orNull(number('Metres; rounded to 100 m while masked.')),
        name: orNull(text('Withheld while masked.')),
        masked: { type: 'boolean' },
      }),
    ),
    power: orNull(
      object({
        battery_volts: orNull(number()),
        charging: orNull({ type: 'boolean' }),
        source: orNull(text()),
      }),
    ),
    connectivity: orNull(
      object({
        type: orNull(text('`wifi`, `cell`, `none`.')),
        signal_strength: orNull(number('dBm when negative, otherwise a percentage.')),
      }),
    ),
  }),
  HealthReport: object({
    timestamp: time('The sensor’s time of the report.'),
    received_at: orNull(time('When the service received it.')),
    firmware: orNull(text()),
    power_source: orNull(text()),
    connection_type: orNull(text()),
    signal_strength: orNull(number('dBm when negative, otherwise a percentage.')),
    uptime_s: orNull(number('Seconds.')),
    reboot_reason: orNull(text()),
    clock_quality: orNull(text()),
    sync_age_s: orNull(number('Seconds.')),
    data_tx_bytes: orNull(number('Bytes sent since the sensor last started, without network overhead.')),
    data_rx_bytes: orNull(number('Bytes received, counted likewise.')),
    battery_volts: orNull(number()),
    charging: orNull({ type: 'boolean' }),
    temperature_c: orNull(number('Degrees Celsius.')),
    free_heap_bytes: orNull(number()),
    buffer_usage_pct: orNull(number('Percent.')),
    gps: orNull({ type: 'object', description: 'Withheld while masked.' }),
  }),
  HealthPage: object({
    device_id: text(),
    station: text(),
    from: time('Exclusive.'),
    to: time('Inclusive.'),
    next_from: orNull(time('`from` of the next request while more reports remain.')),
    data: { type: 'array', items: reference('HealthReport') },
  }),
  Origin: object({
    id: { type: ['string', 'integer'] },
    latitude: number('Degrees.'),
    longitude: number('Degrees.'),
    depth: orNull(number('Kilometres.')),
    origin_time: number('Unix seconds.'),
    issued_at: orNull(number('Unix seconds.')),
  }),
  Event: object(eventFields()),
  EventDetail: {
    type: 'object',
    description: 'An event with every solution issued for it.',
    required: ['id', 'origins', 'magnitudes', 'picks', 'amplitudes', 'descriptions'],
    properties: {
      ...eventFields(),
      origins: { type: 'array', items: reference('Origin') },
      magnitudes: { type: 'array', items: { type: 'object' } },
      picks: { type: 'array', items: { type: 'object' } },
      amplitudes: { type: 'array', items: { type: 'object' } },
      descriptions: { type: 'array', items: { type: 'object' } },
    },
  },
  Trigger: object({
    id: integer(),
    device_id: text(),
    station: orNull(text('Null when the sensor has since moved to another project.')),
    location_name: orNull(text('Withheld while masked.')),
    start_time: time(),
    end_time: orNull(time('Null while open.')),
    peak_time: orNull(time()),
    pga_horizontal_mg: orNull(number('mg, 0.5 to 25 Hz.')),
    pga_hne_mg: orNull(number('mg, 0.5 to 25 Hz.')),
    pga_hnn_mg: orNull(number('mg, 0.5 to 25 Hz.')),
    pga_hnz_mg: orNull(number('mg, 0.5 to 25 Hz.')),
    pgv_ehz_mm_s: orNull(number('mm/s, 0.5 to 25 Hz.')),
    peak_ehz_counts: orNull(number('Counts.')),
    peak_hz: orNull(number('Hz.')),
    status: text('`open`: values can still change; `closed`: final.'),
  }),
  SensorPage: pageOf('Sensor'),
  EventPage: pageOf('Event'),
  TriggerPage: pageOf('Trigger'),
};

function eventFields() {
  return {
    id: text(),
    issued_at: time(),
    magnitude: orNull(number()),
    origin: orNull(reference('Origin')),
    station_count: orNull(integer()),
    pick_stations: orNull({ type: 'array', items: text('Station code.') }),
  };
}

/** An object of which every field is there, if only as null. */
function object(properties: Record<string, object>) {
  return { type: 'object', required: Object.keys(properties), properties };
}

function pageOf(name: string) {
  return object({
    data: { type: 'array', items: reference(name) },
    total: integer(),
    limit: integer(),
    offset: integer(),
  });
}

function orNull(schema: object) {
  return { oneOf: [schema, { type: 'null' }] };
}

export function reference(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

function text(description?: string) {
  return { type: 'string', ...(description && { description }) };
}

function time(description?: string) {
  return { ...text(description), format: 'date-time' };
}

function number(description?: string) {
  return { type: 'number', ...(description && { description }) };
}

function integer() {
  return { type: 'integer' };
}

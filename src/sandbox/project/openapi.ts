import { stringify } from 'yaml';
import { openapiSchemas, reference } from './openapi-schemas.js';

/** The description at `/v1/openapi.yaml` (docs/interfaces.md P1): OpenAPI 3.1. */
export function openapiYaml(): string {
  // Aliases would be valid YAML, but not every reader of OpenAPI follows them.
  return stringify(description, { aliasDuplicateObjects: false });
}

const idParameter = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

const rangeParameters = [
  query('from', 'At or after: RFC 3339 in UTC, or a date meaning midnight UTC.', { type: 'string' }),
  query('to', 'At or before: RFC 3339 in UTC, or a date meaning midnight UTC.', { type: 'string' }),
];

const orderParameter = query('order', 'Newest first (`desc`) or oldest first.', {
  type: 'string',
  enum: ['desc', 'asc'],
  default: 'desc',
});

const pagingParameters = [
  query('limit', 'Records on this page.', { type: 'integer', minimum: 1, maximum: 500, default: 100 }),
  query('offset', 'Records before this page.', { type: 'integer', minimum: 0, default: 0 }),
];

const description = {
  openapi: '3.1.0',
  info: {
    title: 'Read-Only Project Data API',
    version: '1.0.0',
    description:
      'One project’s sensors, sensor health reports, earthquake events and triggers. Served by the sandbox.',
  },
  // Relative to this document, so that it holds under any address.
  servers: [{ url: '..' }],
  security: [{ projectKey: [] }],
  paths: {
    '/v1/project': get('readProject', 'The project of the key', 'Project'),
    '/v1/sensors': get('listSensors', 'Sensors, ordered by station code', 'SensorPage', pagingParameters),
    '/v1/sensors/{id}': get('readSensor', 'One sensor, by Device ID or station code', 'Sensor', [
      idParameter,
    ]),
    '/v1/sensors/{id}/soh': get('listHealthReports', 'Health reports, oldest first', 'HealthPage', [
      idParameter,
      query('from', 'Start, exclusive; by default 24 hours before `to`, at most 7 days.', { type: 'string' }),
      query('to', 'End, inclusive; by default now.', { type: 'string' }),
      query('limit', 'Reports per response.', { type: 'integer', minimum: 1, maximum: 5000, default: 1000 }),
    ]),
    '/v1/events': get('listEvents', 'Earthquake events by the time of issue', 'EventPage', [
      ...rangeParameters,
      query('min_magnitude', 'Smallest magnitude included.', { type: 'number' }),
      query('bbox', 'Epicentre inside min_lon,min_lat,max_lon,max_lat.', { type: 'string' }),
      orderParameter,
      ...pagingParameters,
    ]),
    '/v1/events/{id}': get('readEvent', 'One event with all solutions', 'EventDetail', [idParameter]),
    '/v1/triggers': get('listTriggers', 'Triggered recordings by the time of their start', 'TriggerPage', [
      ...rangeParameters,
      query('device_id', 'Only this sensor’s triggers.', { type: 'string' }),
      orderParameter,
      ...pagingParameters,
    ]),
    '/v1/openapi.yaml': {
      get: {
        operationId: 'readDescription',
        summary: 'This description',
        security: [],
        responses: { 200: { description: 'OpenAPI 3.1', content: { 'application/yaml': { schema: {} } } } },
      },
    },
  },
  components: {
    securitySchemes: {
      projectKey: { type: 'http', scheme: 'bearer', description: 'A key of one project: `svc_sk_…`.' },
    },
    responses: {
      // docs/interfaces.md P7.
      400: failure(
        'A parameter (`invalid_parameter`) or a range (`invalid_range`) is wrong; the message names it.',
      ),
      401: failure('`unauthorized`: the key is missing, malformed or revoked.'),
      403: failure('`forbidden`: the plan does not include earthquake detection.'),
      404: failure('`not_found`: no such resource in this project.'),
      429: {
        ...failure('`rate_limited`: over 60 requests a minute, with bursts up to 20.'),
        headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
      },
      500: failure('`internal_error`: server fault.'),
      503: failure('`timeout`: the query ran too long; narrow the range or page size.'),
    },
    schemas: openapiSchemas,
  },
};

function get(operationId: string, summary: string, schema: string, parameters: readonly object[] = []) {
  const responses: Record<string, object> = {
    200: { description: summary, content: { 'application/json': { schema: reference(schema) } } },
  };
  for (const status of ['400', '401', '403', '404', '429', '500', '503']) {
    responses[status] = { $ref: `#/components/responses/${status}` };
  }
  return { get: { operationId, summary, parameters, responses } };
}

function query(name: string, text: string, schema: object) {
  return { name, in: 'query', required: false, description: text, schema };
}

function failure(text: string) {
  return { description: text, content: { 'application/json': { schema: reference('Error') } } };
}

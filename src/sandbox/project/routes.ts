import { pageOf, sliceOf } from '../http/paging.js';
import { numberIn, ParameterError, Parameters } from '../http/parameters.js';
import { type ApiRequest, jsonReply, type Reply, segmentsOf } from '../http/reply.js';
import { sortedViews } from '../http/sorted.js';
import { timelines } from '../http/timeline.js';
import type { ProjectData, ProjectKey } from '../world.js';
import { maskedSensor, maskedTrigger, unmaskedSensor } from './masking.js';
import type { ProjectEvent, ProjectSensor, ProjectTrigger } from './records.js';
import { healthPage, healthWindow } from './soh.js';

/** Answers every path of docs/interfaces.md P4 for a key that has been accepted. */
export function projectInterface(): (request: ApiRequest, key: ProjectKey) => Reply {
  // docs/interfaces.md P4: ordered by station code.
  const sensorsByStation = sortedViews<ProjectSensor>(
    (sensor) => sensor.station,
    (sensor) => sensor.station,
    (sensor) => sensor.device_id,
  );
  const eventsByIssue = timelines<ProjectEvent>(
    (event) => event.issued_at,
    (event) => event.id,
  );
  const triggersByStart = timelines<ProjectTrigger>(
    (trigger) => trigger.start_time,
    (trigger) => trigger.id,
  );

  return (request, key) => {
    const { data } = key;
    const [resource, id, sub, ...rest] = segmentsOf(request.path) ?? [];
    const query = (allowed: readonly string[]) => new Parameters(request.search, allowed);
    if (rest.length > 0) return notFound();
    try {
      switch (`${resource}${id === undefined ? '' : '/{id}'}${sub === undefined ? '' : `/${sub}`}`) {
        case 'project':
          query([]);
          return jsonReply(200, projectOf(key));
        case 'sensors':
          return sensorList(query(['limit', 'offset']), data);
        case 'sensors/{id}': {
          query([]);
          const sensor = sensorCalled(data, id);
          return sensor ? jsonReply(200, shown(data, sensor)) : notFound();
        }
        case 'sensors/{id}/soh': {
          const window = healthWindow(query(['from', 'to', 'limit']), request.nowMs);
          const sensor = sensorCalled(data, id);
          return sensor ? jsonReply(200, healthPage(window, data, sensor)) : notFound();
        }
        case 'events':
          return eventList(query(['from', 'to', 'min_magnitude', 'bbox', 'order', 'limit', 'offset']), data);
        case 'events/{id}': {
          query([]);
          const event = data.eventsStatus === 200 ? data.events.find((known) => known.id === id) : undefined;
          if (data.eventsStatus === 403) return withoutDetection(403);
          return event ? jsonReply(200, eventDetail(event, data)) : notFound();
        }
        case 'triggers':
          return triggerList(query(['from', 'to', 'device_id', 'order', 'limit', 'offset']), data);
        default:
          return notFound();
      }
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error;
      return projectError(400, error.kind === 'range' ? 'invalid_range' : 'invalid_parameter', error.message);
    }
  };

  function sensorList(query: Parameters, data: ProjectData): Reply {
    const page = pageOf(sliceOf(sensorsByStation(data.sensors)), ...pagingOf(query));
    return listReply(
      query,
      page.total,
      page.records.map((sensor) => shown(data, sensor)),
    );
  }

  function eventList(query: Parameters, data: ProjectData): Reply {
    const paging = pagingOf(query);
    const [fromMs, toMs] = rangeOf(query);
    const minMagnitude = query.number('min_magnitude');
    const box = boxOf(query.text('bbox'));
    const order = query.oneOf('order', ['desc', 'asc']) ?? 'desc';
    if (data.eventsStatus !== 200) return withoutDetection(data.eventsStatus);
    const keep =
      minMagnitude === undefined && !box
        ? undefined
        : (event: ProjectEvent) =>
            (minMagnitude === undefined || (event.magnitude !== null && event.magnitude >= minMagnitude)) &&
            (!box || isInside(box, event));
    const page = pageOf(eventsByIssue(data.events).between(fromMs, toMs, order), ...paging, keep);
    return listReply(query, page.total, page.records.map(eventListItem));
  }

  function triggerList(query: Parameters, data: ProjectData): Reply {
    const paging = pagingOf(query);
    const [fromMs, toMs] = rangeOf(query);
    const deviceId = query.text('device_id');
    const order = query.oneOf('order', ['desc', 'asc']) ?? 'desc';
    const keep =
      deviceId === undefined ? undefined : (trigger: ProjectTrigger) => trigger.device_id === deviceId;
    const page = pageOf(triggersByStart(data.triggers).between(fromMs, toMs, order), ...paging, keep);
    const masked = data.project.location_masked;
    return listReply(query, page.total, masked ? page.records.map(maskedTrigger) : page.records);
  }
}

/** docs/interfaces.md P7: `{error: {code, message}}`. */
export function projectError(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  return jsonReply(status, { error: { code, message } }, headers);
}

const notFound = () => projectError(404, 'not_found', 'There is no such resource in this project');

// Assumed: 403 with a code of its own, or the 404 of anything absent; docs/interfaces.md P7 leaves the answer open.
const withoutDetection = (status: 403 | 404) =>
  status === 404
    ? notFound()
    : projectError(403, 'forbidden', 'The plan of this project does not include earthquake detection');

function projectOf({ id, data }: ProjectKey): object {
  const { project, sensors } = data;
  return { ...project, sensor_count: project.sensor_count ?? sensors.length, api_key_id: id };
}

// Assumed: Device IDs and station codes are compared letter by letter; docs/interfaces.md P4.3 does not speak of case.
const sensorCalled = (data: ProjectData, id: string | undefined): ProjectSensor | undefined =>
  data.sensors.find((sensor) => sensor.device_id === id) ??
  data.sensors.find((sensor) => sensor.station === id);

const shown = (data: ProjectData, sensor: ProjectSensor): object =>
  data.project.location_masked ? maskedSensor(sensor) : unmaskedSensor(sensor);

function pagingOf(query: Parameters): [offset: number, limit: number] {
  const limit = query.integer('limit', { min: 1, max: 500, fallback: 100 });
  return [query.integer('offset', { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 }), limit];
}

function rangeOf(query: Parameters): [fromMs: number | undefined, toMs: number | undefined] {
  const fromMs = query.utcTimeOrDate('from');
  const toMs = query.utcTimeOrDate('to');
  // Assumed: an empty range is a range that is wrong; docs/interfaces.md P7 gives only one example.
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) {
    throw new ParameterError('from', 'is after to', 'range');
  }
  return [fromMs, toMs];
}

function listReply(query: Parameters, total: number, data: object[]): Reply {
  const [offset, limit] = pagingOf(query);
  return jsonReply(200, { data, total, limit, offset });
}

type Box = readonly [west: number, south: number, east: number, north: number];

function boxOf(text: string | undefined): Box | undefined {
  if (text === undefined) return undefined;
  const parts = text.split(',');
  if (parts.length !== 4) throw new ParameterError('bbox', 'must be min_lon,min_lat,max_lon,max_lat');
  const [west, south, east, north] = parts.map((part, index) => {
    const bound = index % 2 === 0 ? 180 : 90;
    return numberIn('bbox', part, { min: -bound, max: bound });
  }) as [number, number, number, number];
  // Assumed: a box across the antimeridian is not a box here; docs/interfaces.md P4 names minima and maxima.
  if (west > east || south > north) throw new ParameterError('bbox', 'has a minimum above its maximum');
  return [west, south, east, north];
}

function isInside([west, south, east, north]: Box, { origin }: ProjectEvent): boolean {
  if (!origin) return false;
  const { longitude, latitude } = origin;
  return longitude >= west && longitude <= east && latitude >= south && latitude <= north;
}

function eventListItem({
  id,
  issued_at,
  magnitude,
  origin,
  station_count,
  pick_stations,
}: ProjectEvent): object {
  return { id, issued_at, magnitude, origin, station_count, pick_stations };
}

function eventDetail(event: ProjectEvent, data: ProjectData): object {
  if (data.detailRepeatsListFields) return event;
  const { id, origins, magnitudes, picks, amplitudes, descriptions } = event;
  return { id, origins, magnitudes, picks, amplitudes, descriptions };
}

import { ParameterError, type Parameters } from '../http/parameters.js';
import { jsonReply, type Reply } from '../http/reply.js';
import { textOf } from '../time.js';
import type { CatalogueData } from '../world.js';
import { CatalogueFailure } from './failure.js';
import { miniseed } from './miniseed.js';

/** A window of one channel (docs/interfaces.md C4), as JSON in the envelope or as a stream of miniSEED records. */
export function sensorData(
  query: Parameters,
  data: CatalogueData,
  id: string | undefined,
  nowMs: number,
  meta: object,
): Reply {
  const channel = query.oneOf('channel', ['HNZ', 'HNE', 'HNN']);
  const format = query.oneOf('format', ['json', 'miniseed']) ?? 'json';
  const [startMs, endMs] = [query.isoTime('start'), query.isoTime('end')];
  // Assumed: all three are needed and nothing has a default but the format; docs/interfaces.md C4 does not say.
  if (startMs === undefined) throw new ParameterError('start', 'is missing');
  if (endMs === undefined) throw new ParameterError('end', 'is missing');
  if (channel === undefined) throw new ParameterError('channel', 'is missing');
  if (startMs >= endMs) throw new ParameterError('start', 'is not before end', 'range');
  const maxSpanS = format === 'json' ? maxJsonSpanS : maxMiniseedSpanS;
  if (endMs - startMs > maxSpanS * 1000) {
    throw new ParameterError('end', `is more than ${maxSpanS} seconds after start`, 'range');
  }
  const sensor = data.sensors.find((known) => known.id === id);
  const source = data.waveforms;
  if (!sensor || !source.samples(sensor.id, channel, 0, 1)) {
    throw new CatalogueFailure(404, 'not_found', 'There is no such sensor, or it records no such channel');
  }
  // Samples at or after start and before end, none of the future.
  const firstIndex = Math.ceil((startMs / 1000) * source.rateHz);
  const endIndex = Math.ceil((Math.min(endMs, nowMs) / 1000) * source.rateHz);
  const window = { firstIndex, count: Math.max(0, endIndex - firstIndex) };
  if (format === 'miniseed') {
    const chunks = miniseed(sensor, channel, source, window);
    return { status: 200, headers: {}, body: { kind: 'stream', type: 'application/vnd.fdsn.mseed', chunks } };
  }
  const samples = source.samples(sensor.id, channel, window.firstIndex, window.count) ?? [];
  const timeOf = (index: number) => textOf((index / source.rateHz) * 1000, 6);
  return jsonReply(200, {
    data: {
      sensor_id: sensor.id,
      channel,
      start_time: timeOf(firstIndex),
      end_time: timeOf(firstIndex + Math.max(0, window.count - 1)),
      sample_rate: source.rateHz,
      samples: Array.from(samples),
    },
    meta,
  });
}

// Assumed: docs/interfaces.md C4 gives no bounds. JSON is held in memory as text; miniSEED is made record by record.
const maxJsonSpanS = 3 * 3600;
const maxMiniseedSpanS = 24 * 3600;

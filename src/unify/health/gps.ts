import { healthFieldNames, type WireHealthReport } from '../../upstream/project/wire.js';

/**
 * The GPS position in a health report, as upstream wrote it; null when there is none. Names and types of its fields are
 * not shown (docs/interfaces.md P2), so it is whatever is not documented and has the name of a position: one field by itself,
 * or several together under their names.
 */
export function positionOf(report: WireHealthReport): unknown {
  const fields = Object.entries(report).filter(
    ([name, value]) => !healthFieldNames.has(name) && value !== null && looksLikePosition.test(name),
  );
  const [only] = fields;
  if (!only) return null;
  return fields.length === 1 && typeof only[1] === 'object' ? only[1] : Object.fromEntries(fields);
}

// Assumed: whatever a service may call it.
const looksLikePosition =
  /gps|gnss|^(geo)?(loc|location|pos|position|coord|coords|coordinates|point)$|(^|_)(lat|latitude|lon|lng|long|longitude|alt|altitude|elevation|elevation_m|hdop|satellites)(_|$)/i;

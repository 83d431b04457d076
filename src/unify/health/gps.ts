import { healthFieldNames, type WireHealthReport } from '../../upstream/project/wire.js';

/**
 * The GPS position in a health report, as upstream wrote it; null when there is none. Names and types of its fields are
 * not documented (docs/interfaces.md P2), so it consists of the undocumented fields that are named like a position: one
 * object by itself, or all such fields under their names.
 */
export function positionOf(report: WireHealthReport): unknown {
  const fields = Object.entries(report).filter(
    ([name, value]) => !healthFieldNames.has(name) && value !== null && looksLikePosition.test(name),
  );
  const [only] = fields;
  if (!only) return null;
  return fields.length === 1 && typeof only[1] === 'object' ? only[1] : Object.fromEntries(fields);
}

// Assumed: names that a service may give to a position.
const looksLikePosition =
  /gps|gnss|^(geo)?(loc|location|pos|position|coord|coords|coordinates|point)$|(^|_)(lat|latitude|lon|lng|long|longitude|alt|altitude|elevation|elevation_m|hdop|satellites)(_|$)/i;

import type { SensorItem } from '../data/world.js';
import type { Texts } from '../texts/en.js';

const names = { ONLINE: 'online', OFFLINE: 'offline', UNKNOWN: 'unknown' } as const;

/** The status in words, with the text of the service where that says more, such as `maintenance`. */
export function statusOf(
  { status, statusText }: Pick<SensorItem, 'status' | 'statusText'>,
  texts: Texts,
): string {
  const name = texts[names[status]];
  // A station that has fallen silent is OFFLINE while the last record of it still says `online`.
  return /^(online|offline|unknown)?$/i.test(statusText.trim()) ? name : `${name}: ${statusText}`;
}

import type { TriggerItem } from '../data/world.js';

const shownAfterEndMs = 60_000;

/**
 * Sensors that shake, or did a minute ago, with the colour of their intensity.
 * @param asOfMs when the triggers were last known to be so: one that was open then may have ended since
 */
export function litSensors(
  triggers: readonly TriggerItem[],
  nowMs: number,
  asOfMs: number,
): ReadonlyMap<string, string> {
  const strongest = new Map<string, { readonly mmi: number; readonly color: string }>();
  for (const { sensor, status, startTime, endTime, estimatedIntensity } of triggers) {
    if (!sensor) continue;
    const isLit =
      status === 'OPEN'
        ? nowMs - Date.parse(startTime) < 60 * shownAfterEndMs && nowMs - asOfMs < shownAfterEndMs
        : nowMs - Date.parse(endTime ?? startTime) < shownAfterEndMs;
    const { mmi, color } = estimatedIntensity ?? { mmi: 0, color: '#FFFFFF' };
    if (isLit && mmi >= (strongest.get(sensor.id)?.mmi ?? -1)) strongest.set(sensor.id, { mmi, color });
  }
  return new Map([...strongest].map(([id, { color }]) => [id, color]));
}

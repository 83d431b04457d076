import type { SensorItem } from '../data/world.js';

export const orders = ['worst', 'code', 'status', 'seen', 'battery', 'signal'] as const;
export type Order = (typeof orders)[number];

/** Stations without the value come last in either direction. */
export function sorted(
  sensors: readonly SensorItem[],
  order: Order,
  isDescending: boolean,
): readonly SensorItem[] {
  const sign = isDescending ? -1 : 1;
  const keyed = sensors.map((sensor) => ({ sensor, key: keyOf(sensor, order) }));
  keyed.sort((one, other) => {
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null);
    if (one.key !== other.key) return one.key < other.key ? -sign : sign;
    return one.sensor.stationCode < other.sensor.stationCode ? -1 : 1;
  });
  return keyed.map(({ sensor }) => sensor);
}

function keyOf(sensor: SensorItem, order: Order): number | string | null {
  const { status, lastSeenAt, power, connectivity, stationCode } = sensor;
  switch (order) {
    case 'code':
      return stationCode;
    case 'status':
      return status;
    case 'seen':
      return lastSeenAt === null ? null : Date.parse(lastSeenAt);
    case 'battery':
      return power?.batteryVolts ?? null;
    case 'signal':
      return fractionOf(connectivity?.signalStrength);
    case 'worst':
      return goodnessOf(sensor);
  }
}

/** Offline stations, the longest first; then those with the emptiest battery or the weakest signal. */
function goodnessOf({ status, lastSeenAt, power, connectivity }: SensorItem): number {
  if (status === 'OFFLINE') return lastSeenAt === null ? -1e15 : Date.parse(lastSeenAt) - 1e14;
  const battery = power?.batteryVolts ?? 12.5;
  const signal = fractionOf(connectivity?.signalStrength) ?? 0.6;
  return (status === 'UNKNOWN' ? 0 : 100) + Math.min(battery - 11, 1.5) + signal;
}

/** Decibels and percent on one scale: -110 dBm is no signal, -50 dBm a full one. */
function fractionOf(
  signal: NonNullable<SensorItem['connectivity']>['signalStrength'] | undefined,
): number | null {
  if (!signal) return null;
  return signal.unit === 'DBM' ? (signal.value + 110) / 60 : signal.value / 100;
}
